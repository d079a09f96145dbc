import { join } from 'node:path';
import type { Rolldown } from 'vite';
import { PAGE_PATHS, pathPattern } from '../console/page-paths.ts';
import { REACT_ON_PREACT } from './react-on-preact.ts';
import { bundle } from './vite.ts';
import type { BuiltFile } from './write-files.ts';

/** What the console's page must load: names of files in `web/dist/console`. */
export type ConsoleManifest = {
  /** Every file that may be asked for. */
  files: string[];
  /** The script that starts it. */
  script: string;
  /** Scripts that it imports statically, so that a browser can request all of them together. */
  imports: string[];
  styles: string[];
  /** Further scripts by page: the source of a pattern of paths below `/console`, in order. */
  pages: { pattern: string; imports: string[] }[];
};

type Chunk = Rolldown.OutputChunk;

/**
 * Builds the console as modules that load when a page opens, each with its content's hash in its name.
 *
 * @returns its files, its manifest, and the modules that they were made of
 */
export async function buildConsole(
  webDir: string,
): Promise<{ files: BuiltFile[]; manifest: ConsoleManifest; modules: string[] }> {
  const { output, modules } = await bundle({
    root: join(webDir, 'console'),
    base: '/console/assets/',
    resolve: { alias: REACT_ON_PREACT },
    build: {
      target: 'es2022',
      rolldownOptions: {
        input: join(webDir, 'console/main.tsx'),
        output: {
          entryFileNames: '[name]-[hash].js',
          chunkFileNames: '[name]-[hash].js',
          assetFileNames: '[name]-[hash][extname]',
          // Puts all modules that the entry imports into one file, not into one for each set of pages that share them.
          codeSplitting: { groups: [{ name: 'base', tags: ['$initial'] }] },
        },
      },
    },
  });
  const chunks = output.filter((file) => file.type === 'chunk');
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (!entry) throw new Error('Vite wrote no entry of the console');
  const first = withImports(chunks, entry);
  const manifest: ConsoleManifest = {
    files: output.map(({ fileName }) => fileName),
    script: entry.fileName,
    imports: first.filter((name) => name !== entry.fileName),
    styles: output.map(({ fileName }) => fileName).filter((name) => name.endsWith('.css')),
    pages: Object.entries(PAGE_PATHS).map(([name, path]) => {
      const source = join(webDir, `console/pages/${name}.tsx`);
      const page = chunks.find(({ facadeModuleId }) => facadeModuleId === source);
      if (!page) throw new Error(`Vite wrote no file for ${source}`);
      const imports = withImports(chunks, page).filter((file) => !first.includes(file));
      return { pattern: pathPattern(path).source, imports };
    }),
  };
  const files = output.map((file) => ({
    path: `console/${file.fileName}`,
    content: file.type === 'chunk' ? file.code : file.source,
  }));
  return { files, manifest, modules };
}

/** The names of a chunk and of all that it imports statically, itself first. */
function withImports(chunks: readonly Chunk[], first: Chunk): string[] {
  const names = new Set([first.fileName]);
  for (const name of names) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
      names.add(imported);
  }
  return [...names];
}
