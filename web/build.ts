import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Metafile, OutputFile } from 'esbuild';
import { componentStyles } from './bundling/component-styles.ts';
import { directImports } from './bundling/direct-imports.ts';
import { nativeTables } from './bundling/native-tables.ts';
import { LATER, sharedBase } from './bundling/shared-base.ts';
import { PAGE_PATHS, pathPattern } from './console/page-paths.ts';

/** Where browser code is written: `web/dist/<name>.js` for each bundle, and `<name>.css` where it has styles. */
export const DIST_DIR = fileURLToPath(new URL('./dist/', import.meta.url));

/** Where the console's files are written. */
export const CONSOLE_DIR = join(DIST_DIR, 'console');
/** The one file there without a hash in its name; see {@link ConsoleManifest}. */
export const CONSOLE_MANIFEST = 'manifest.json';

const WEB_DIR = fileURLToPath(new URL('.', import.meta.url));
/** Its pure parts are in the console too. */
const CORE_DIR = fileURLToPath(new URL('../core/', import.meta.url));

/**
 * Every script that a browser loads: the file that comes out, its entry, and the oldest language level that it
 * must run in. Foreign sites include the pixel, so that one goes further back.
 */
const BUNDLES = [
  { name: 'pixel', entry: 'pixel/pixel.ts', target: 'es2020' },
  { name: 'embed', entry: 'embed/loader.ts', target: 'es2020' },
  { name: 'embed-page', entry: 'embed/page.tsx', target: 'es2022' },
] as const;

/**
 * Builds the bundles that are older than any source, minified, each one file without imports. With nothing to
 * do it only reads file times, so that it may run before every start.
 *
 * @returns names of the bundles that were built
 * @throws the bundler's error, with the file and line that it could not read
 */
export async function buildWeb(): Promise<string[]> {
  const newest = Math.max(...(await Promise.all([WEB_DIR, CORE_DIR].map(newestSource))));
  const built: string[] = [];
  if ((await modified(join(CONSOLE_DIR, CONSOLE_MANIFEST))) <= newest) {
    await buildConsole();
    await date(join(CONSOLE_DIR, CONSOLE_MANIFEST), newest);
    built.push('console');
  }
  for (const { name, entry, target } of BUNDLES) {
    const outfile = join(DIST_DIR, `${name}.js`);
    if ((await modified(outfile)) > newest) continue;
    const { build } = await import('esbuild');
    const { outputFiles } = await build({
      entryPoints: [join(WEB_DIR, entry)],
      outfile,
      write: false,
      target,
      bundle: true,
      minify: true,
      format: 'iife',
      platform: 'browser',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
    });
    await writeFiles(DIST_DIR, outputFiles);
    await date(outfile, newest);
    built.push(name);
  }
  return built;
}

/** What the console's page must load: names of files in {@link CONSOLE_DIR}. */
export type ConsoleManifest = {
  /** The script that starts it. */
  script: string;
  /** Scripts that it imports at once, so that a browser can ask for all of them together. */
  imports: string[];
  styles: string[];
  /** What the pages need besides, by the source of an expression that their paths below `/console` fit, in order. */
  pages: { pattern: string; imports: string[] }[];
};

/**
 * The console: modules that are loaded as pages are opened, each with its content's hash in its name. The manifest is
 * written last, so that it never names what is not there.
 */
async function buildConsole(): Promise<void> {
  const { build } = await import('esbuild');
  const both = {
    outdir: CONSOLE_DIR,
    target: 'es2022',
    bundle: true,
    minify: true,
    entryNames: '[name]-[hash]',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    absWorkingDir: WEB_DIR,
  } as const;
  const { metafile, outputFiles } = await build({
    ...both,
    entryPoints: [join(WEB_DIR, 'console/main.tsx')],
    splitting: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'react',
    define: { 'process.env.NODE_ENV': '"production"' },
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    plugins: [sharedBase(join(WEB_DIR, 'console/main.tsx')), directImports(), nativeTables()],
  });
  const styles = await build({
    ...both,
    entryPoints: [join(WEB_DIR, 'console/styles.css')],
    metafile: true,
    write: false,
    plugins: [componentStyles(outputFiles.map(({ text }) => text))],
  });
  // Whole or not at all, also where two builds run at once.
  const fresh = `${CONSOLE_DIR}.${process.pid}`;
  await writeFiles(fresh, [...outputFiles, ...styles.outputFiles]);
  const first = outputOf(metafile, 'console/main.tsx');
  const base = [...filesOf(metafile, first)];
  const manifest: ConsoleManifest = {
    script: basename(first),
    imports: base.slice(1).map((path) => basename(path)),
    styles: Object.keys(styles.metafile.outputs).map((name) => basename(name)),
    pages: Object.entries(PAGE_PATHS).map(([name, path]) => {
      const files = filesOf(
        metafile,
        outputOf(metafile, `${LATER}:${join(WEB_DIR, `console/pages/${name}.tsx`)}`),
      );
      const imports = [...files].filter((file) => !base.includes(file)).map((file) => basename(file));
      return { pattern: pathPattern(path).source, imports };
    }),
  };
  await writeFile(join(fresh, CONSOLE_MANIFEST), JSON.stringify(manifest));
  await rm(CONSOLE_DIR, { recursive: true, force: true });
  try {
    await rename(fresh, CONSOLE_DIR);
  } catch {
    // Another build has put its own there in between: from the same sources, and whole.
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The file that an entry was written to. @throws Error when it is none */
function outputOf({ outputs }: Metafile, entry: string): string {
  const found = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry);
  if (found === undefined) throw new Error(`the bundler wrote nothing for ${entry}`);
  return found;
}

/** A file with all that it imports at once, itself first. */
function filesOf({ outputs }: Metafile, first: string): Set<string> {
  const files = new Set([first]);
  for (const file of files) {
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement') files.add(path);
  }
  return files;
}

/** Writes each file, and beside it what it is compressed: once here, so that no server has to at its start. */
async function writeFiles(directory: string, files: readonly OutputFile[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  await Promise.all(
    files.flatMap(({ path, contents }) => {
      const target = join(directory, basename(path));
      return [
        writeFile(target, contents),
        writeFile(`${target}.gz`, gzipSync(contents, { level: 9 })),
        writeFile(`${target}.br`, brotliCompressSync(contents)),
      ];
    }),
  );
}

/** Dates a file as built from sources of this time: those that changed during the build are newer. */
async function date(path: string, newest: number): Promise<void> {
  const at = new Date(Math.ceil(newest) + 1);
  await utimes(path, at, at);
}

/** Time of the last change of any source under `dir`, milliseconds since the epoch. */
async function newestSource(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  const times = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(DIST_DIR.slice(0, -1)))
      .map((entry) => modified(join(entry.parentPath, entry.name))),
  );
  return Math.max(0, ...times);
}

/** 0 when there is no such file. */
async function modified(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}

if (import.meta.main) await buildWeb();
