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
  /** Modules that pages need besides, by what their paths below `/console` look like; the first that fits counts. */
  pages: { pattern: RegExp; imports: string[] }[];
};

/** As `web/build.ts` writes it. */
type Manifest = Omit<ConsoleFiles, 'assets' | 'pages'> & { pages: { pattern: string; imports: string[] }[] };

/** Where `web/build.ts` writes. */
const DIST = new URL('../../web/dist/console/', import.meta.url);

/**
 * Reads all files of the console.
 *
 * @throws Error when it has not been built
 */
export function readConsoleFiles(): ConsoleFiles {
  const names = readdirSync(DIST).filter((name) => name.endsWith('.js') || name.endsWith('.css'));
  const { pages, ...manifest } = JSON.parse(readFileSync(new URL('manifest.json', DIST), 'utf8')) as Manifest;
  return {
    ...manifest,
    pages: pages.map(({ pattern, imports }) => ({ pattern: new RegExp(pattern), imports })),
    assets: new Map(names.map((name) => [name, builtAsset(`console/${name}`)])),
  };
}
