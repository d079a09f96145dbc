import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readInputs, savedInputs } from './bundling/inputs.ts';
import { removeOthers, replaceFile, writeFiles } from './bundling/write-files.ts';

export type { ConsoleManifest } from './bundling/console.ts';

/** Where browser code is written: `<name>.js` and `<name>.css` of each script, and `console/`. */
export const DIST_DIR = fileURLToPath(new URL('./dist/', import.meta.url));
/** Where the console's files are written. */
export const CONSOLE_DIR = join(DIST_DIR, 'console');
/** The one file there without a hash in its name: a `ConsoleManifest`. */
export const CONSOLE_MANIFEST = 'manifest.json';

const WEB_DIR = fileURLToPath(new URL('.', import.meta.url));
const ROOT_DIR = fileURLToPath(new URL('../', import.meta.url));
const INPUTS = join(DIST_DIR, 'inputs.json');

/**
 * Builds all browser code, unless the last build had the same inputs. Then it only hashes them, so that it may run
 * before every start.
 *
 * @returns whether anything was built
 * @throws Vite's error, with the file and line that it could not read
 */
export async function buildWeb(): Promise<boolean> {
  const saved = await savedInputs(INPUTS);
  if (saved && (await readInputs(ROOT_DIR, saved.outside)).hash === saved.hash) return false;
  const [{ buildConsole }, { buildScripts }] = await Promise.all([
    import('./bundling/console.ts'),
    import('./bundling/scripts.ts'),
  ]);
  const before = await readInputs(ROOT_DIR, []);
  const [console, scripts] = await Promise.all([buildConsole(WEB_DIR), buildScripts(WEB_DIR)]);
  await writeFiles(DIST_DIR, [...console.files, ...scripts.files]);
  // Last, so that the manifest never names a file that is missing.
  await replaceFile(join(CONSOLE_DIR, CONSOLE_MANIFEST), JSON.stringify(console.manifest));
  await removeOthers(CONSOLE_DIR, [CONSOLE_MANIFEST, ...console.manifest.files]);
  const outside = outsideOf([...console.modules, ...scripts.modules]);
  // A source that changed during the build may be in it or not: the next call builds again.
  if ((await readInputs(ROOT_DIR, [])).hash !== before.hash) return true;
  await replaceFile(INPUTS, JSON.stringify(await readInputs(ROOT_DIR, outside)));
  return true;
}

/** The modules outside `web/` that are not packages: packages are fixed by `package-lock.json`. */
function outsideOf(modules: readonly string[]): string[] {
  const paths = modules.map((id) => relative(ROOT_DIR, id));
  return [...new Set(paths)].filter(
    (path) =>
      !path.startsWith('web/') &&
      !path.startsWith('\0') &&
      !path.startsWith('..') &&
      !path.includes('node_modules/'),
  );
}

if (import.meta.main) await buildWeb();
