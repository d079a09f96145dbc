import { readFileSync } from 'node:fs';
import { type Asset, builtAsset } from '../assets.ts';

/** The files of the console, ready to send. */
export type ConsoleFiles = {
  /** Assets by name, which contains the content's hash. */
  assets: ReadonlyMap<string, Asset>;
  script: string;
  /** Modules that the script imports statically. */
  imports: string[];
  styles: string[];
  /** Further modules by path pattern below `/console`; the first match counts. */
  pages: { pattern: RegExp; imports: string[] }[];
};

/** The `manifest.json` of the console's build. */
type Manifest = Omit<ConsoleFiles, 'assets' | 'pages'> & {
  files: string[];
  pages: { pattern: string; imports: string[] }[];
};

/** The output directory of the console's build. */
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
