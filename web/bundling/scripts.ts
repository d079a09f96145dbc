import { join } from 'node:path';
import { bundle } from './vite.ts';
import type { BuiltFile } from './write-files.ts';

/**
 * Makes Chromium compile all functions of a script while it loads, in another thread than the page's: the pixel then
 * takes a quarter less of that (`node bench/pixel.ts`). Must be the first line.
 */
const COMPILED_AT_ONCE = '//# allFunctionsCalledOnLoad\n';

/** Scripts that are one file without imports: name, entry, and the oldest language level that runs them. */
const SCRIPTS = [
  // Foreign sites include these two.
  { name: 'pixel', entry: 'pixel/pixel.ts', target: 'es2018', head: COMPILED_AT_ONCE },
  { name: 'embed', entry: 'embed/loader.ts', target: 'es2020', head: '' },
  { name: 'embed-page', entry: 'embed/page.tsx', target: 'es2022', head: '' },
  { name: 'portal', entry: 'portal/portal.ts', target: 'es2022', head: '' },
] as const;

/**
 * Builds `<name>.js` for each script, and `<name>.css` where it imports styles.
 *
 * @returns files, and the modules that they were made of
 */
export async function buildScripts(webDir: string): Promise<{ files: BuiltFile[]; modules: string[] }> {
  const built = await Promise.all(
    SCRIPTS.map(async ({ name, entry, target, head }) => {
      const { output, modules } = await bundle({
        root: webDir,
        build: {
          target,
          rolldownOptions: {
            input: join(webDir, entry),
            output: { format: 'iife' },
            // Names that files share are written out: the pixel is 20 bytes smaller.
            optimization: { inlineConst: { mode: 'all', pass: 2 } },
          },
        },
      });
      const files = output.map((file) =>
        file.type === 'chunk'
          ? { path: `${name}.js`, content: head + file.code }
          : { path: `${name}.css`, content: file.source },
      );
      return { files, modules };
    }),
  );
  return {
    files: built.flatMap(({ files }) => files),
    modules: built.flatMap(({ modules }) => modules),
  };
}
