import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';

/** Before the path of a module that is loaded later, in what the bundler says of entries. */
export const LATER = 'later';

/**
 * Lets whatever the entry reaches be one file. The bundler makes a file for each set of modules that reach the same
 * code, so that a component of three pages has another file than one of four: dozens of them, each asked for on its own.
 * Here every own module that is loaded later (its default export is what counts) reaches what the entry reaches, which
 * so is one set.
 *
 * @param entry path of the module that is loaded first; it must not wait (`await` at its top) for one that is loaded later
 */
export function sharedBase(entry: string): Plugin {
  return {
    name: 'shared-base',
    setup(build) {
      build.onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir }) => {
        if (kind !== 'dynamic-import' || !resolveDir.startsWith(dirname(entry))) return null;
        const resolved = await build.resolve(path, { kind: 'import-statement', resolveDir });
        return { ...resolved, namespace: LATER };
      });
      build.onLoad({ filter: /.*/, namespace: LATER }, ({ path }) => ({
        contents: `import ${JSON.stringify(entry)}; export { default } from ${JSON.stringify(path)};`,
        resolveDir: dirname(path),
      }));
    },
  };
}
