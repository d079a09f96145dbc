import { readFileSync } from 'node:fs';
import { type Asset, builtAsset } from '../assets.ts';

/** The console as `web/build.ts` wrote it, ready to be sent. */
export type ConsoleFiles = {
  /** By name; each has its content's hash in it. */
  assets: ReadonlyMap<string, Asset>;
  script: string;
  /** Modules that the script imports statically. */
  imports: string[];
  styles: string[];
  /** Further modules by page: a pattern of paths below `/console`. The first that matches counts. */
  pages: { pattern: RegExp; imports: string[] }[];
};

/** `manifest.json`, as `web/build.ts` writes it. */
type Manifest = Omit<ConsoleFiles, 'assets' | 'pages'> & {
  files: string[];
  pages: { pattern: string; imports: string[] }[];
};

/** Where `web/build.ts` writes. */
const DIST = new URL('../../web/dist/console/', import.meta.url);

/**
 * Reads all files of the console.
 *
 * @throws Error when it has not been built
 */
export function readConsoleFiles(): ConsoleFiles {
  const { files, pages, ...manifest } = JSON.parse(
    readFileSync(new URL('manifest.json', DIST), 'utf8'),
  ) as Manifest;
  return {
    ...manifest,
    pages: pages.map(({ pattern, imports }) => ({ pattern: new RegExp(pattern), imports })),
    assets: new Map(files.map((name) => [name, builtAsset(`console/${name}`)])),
  };
}
