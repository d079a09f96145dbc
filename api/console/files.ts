import { readdirSync, readFileSync } from 'node:fs';
import { type Asset, builtAsset } from '../assets.ts';

/** The console as `web/build.ts` wrote it, ready to be sent. */
export type ConsoleFiles = {
  /** By name; each has its content's hash in it. */
  assets: ReadonlyMap<string, Asset>;
  script: string;
  /** Modules that the script imports at once. */
  imports: string[];
  styles: string[];
};

/** Where `web/build.ts` writes. */
const DIST = new URL('../../web/dist/console/', import.meta.url);

/**
 * Reads all files of the console.
 *
 * @throws Error when it has not been built
 */
export function readConsoleFiles(): ConsoleFiles {
  const names = readdirSync(DIST).filter((name) => name.endsWith('.js') || name.endsWith('.css'));
  const manifest = JSON.parse(readFileSync(new URL('manifest.json', DIST), 'utf8')) as Omit<
    ConsoleFiles,
    'assets'
  >;
  return { ...manifest, assets: new Map(names.map((name) => [name, builtAsset(`console/${name}`)])) };
}
