import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where browser code is written: `web/dist/<name>.js` for each bundle, and `<name>.css` where it has styles. */
export const DIST_DIR = fileURLToPath(new URL('./dist/', import.meta.url));

const WEB_DIR = fileURLToPath(new URL('.', import.meta.url));

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
  const newest = await newestSource(WEB_DIR);
  const built: string[] = [];
  for (const { name, entry, target } of BUNDLES) {
    const outfile = join(DIST_DIR, `${name}.js`);
    if ((await modified(outfile)) > newest) continue;
    const { build } = await import('esbuild');
    await mkdir(DIST_DIR, { recursive: true });
    await build({
      entryPoints: [join(WEB_DIR, entry)],
      outfile,
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
    built.push(name);
  }
  return built;
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
