import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { AppError } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';
import { type Asset, builtAsset, compressedAsset } from '../assets.ts';

/** The output directory of `web/docs/build.ts`. */
const SITE_DIR = fileURLToPath(new URL('../../web/dist/docs/', import.meta.url));
/** Placeholder of the deployment's origin in each page (`web/docs/samples.ts`). */
const BASE_URL = 'https://base-url.invalid';
/** Pages that stay in memory, about 50 KB each. */
const CACHED_PAGES = 100;

const TYPES: readonly [end: string, type: string][] = [
  ['.html', 'text/html; charset=utf-8'],
  ['.md', 'text/markdown; charset=utf-8'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.png', 'image/png'],
  ['.webp', 'image/webp'],
];

/** The built documentation. */
export type Site = {
  /** Returns a page or file by its path below `/docs/`; null: there is none. @throws {AppError} when it is not built */
  file(path: string): Promise<Asset | null>;
  /** Returns the index of the search (`core/text/search-options.ts`) as JSON. @throws {AppError} when it is not built */
  searchIndex(): Promise<string>;
};

/** Opens the documentation. Files are read at their first request, and the pages name this deployment's origin. */
export function createSite({ baseUrl }: Pick<Config, 'baseUrl'>): Site {
  let listed: Promise<ReadonlySet<string>> | null = null;
  const cache = createBoundedCache<string, Promise<Asset>>(CACHED_PAGES);

  const read = async (name: string): Promise<Asset> => {
    if (name.startsWith('assets/')) return builtAsset(`docs/${name}`);
    const content = await readFile(join(SITE_DIR, name));
    const [, type] = TYPES.find(([end]) => name.endsWith(end)) ?? ['', 'application/octet-stream'];
    if (!type.startsWith('text/')) return compressedAsset(content, type);
    return compressedAsset(Buffer.from(content.toString().replaceAll(BASE_URL, baseUrl)), type);
  };

  const filesOf = async (): Promise<ReadonlySet<string>> => {
    listed ??= listFiles();
    return listed.catch(() => {
      listed = null;
      throw new AppError('not_found', 'the documentation is not built: run `npm run build`');
    });
  };

  return {
    async searchIndex() {
      const name = [...(await filesOf())].find((file) => /^assets\/search-\w+\.json$/.test(file));
      if (name === undefined) throw new AppError('not_found', 'the documentation has no search index');
      return readFile(join(SITE_DIR, name), 'utf8');
    },
    async file(path) {
      const files = await filesOf();
      const page = path.replace(/\/$/, '');
      const name = [page, `${page || 'index'}.html`].find((one) => files.has(one));
      if (name === undefined) return null;
      const known = cache.get(name);
      if (known) return known;
      const asset = read(name);
      cache.set(name, asset);
      asset.catch(() => cache.delete(name));
      return asset;
    },
  };
}

async function listFiles(): Promise<ReadonlySet<string>> {
  const entries = await readdir(SITE_DIR, { withFileTypes: true, recursive: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Set(paths.map((path) => relative(SITE_DIR, path)));
}
