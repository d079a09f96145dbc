import type { Plugin } from 'esbuild';

/**
 * Leaves the library's own scroll area, and the placing of floating elements that comes with it, out of every page
 * with a table: the console's tables scroll as the browser does (`type="native"`), in which case it is never drawn.
 */
export function nativeTables(): Plugin {
  return {
    name: 'native-tables',
    setup(build) {
      build.onResolve({ filter: /[\\/]ScrollArea\.mjs$/ }, ({ importer }) =>
        importer.endsWith('TableScrollContainer.mjs')
          ? { path: 'none', namespace: 'native-tables', sideEffects: false }
          : null,
      );
      build.onLoad({ filter: /.*/, namespace: 'native-tables' }, () => ({
        contents: 'export const ScrollArea = "div";',
        loader: 'js',
      }));
    },
  };
}
