import { fileURLToPath } from 'node:url';
import { build, type InlineConfig, mergeConfig, type Rolldown } from 'vite';

/** Without `extends`: the image's build has `web/` and `core/` alone. */
const TSCONFIG = fileURLToPath(new URL('./tsconfig.bundle.json', import.meta.url));

/** The files that Vite wrote, and the modules that it read. */
export type Bundle = { output: Rolldown.RolldownOutput['output']; modules: string[] };

/**
 * Builds in memory with Vite with the options that all bundles share.
 *
 * @throws Vite's error, with the file and line that it could not read
 */
export async function bundle(config: InlineConfig): Promise<Bundle> {
  const modules = new Set<string>();
  const common: InlineConfig = {
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    mode: 'production',
    tsconfig: TSCONFIG,
    // Vite takes these from NODE_ENV, whatever the mode: a test would build another bundle than a release.
    oxc: { jsx: { development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['module', 'browser', 'production'] },
    plugins: [
      {
        name: 'modules-read',
        generateBundle() {
          for (const id of this.getModuleIds()) modules.add(id);
        },
      },
    ],
    build: {
      write: false,
      cssCodeSplit: false,
      reportCompressedSize: false,
      modulePreload: { polyfill: false },
      assetsDir: '',
      rolldownOptions: {
        // Reads only the exports in use of an index: 811 modules for the console instead of 7,444.
        experimental: { lazyBarrel: true },
      },
    },
  };
  const built = await build(mergeConfig(common, config));
  if (Array.isArray(built) || !('output' in built)) throw new Error('expected one output from Vite');
  return { output: built.output, modules: [...modules] };
}
