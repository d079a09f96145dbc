import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from '../bundling/vite.ts';
import { type BuiltFile, replaceFile, writeFiles } from '../bundling/write-files.ts';
import type { ApiDocument } from './document.ts';
import { readGuides } from './guides.ts';
import type { Assets } from './layout.ts';
import { BASE_URL } from './samples.ts';
import { filesOf, pagesOf, type Sources, searchIndexOf } from './site.ts';

const ROOT_DIR = fileURLToPath(new URL('../../', import.meta.url));
const OWN_DIR = fileURLToPath(new URL('./', import.meta.url));
/** Output folder of the documentation's site. */
const SITE_DIR = join(ROOT_DIR, 'web/dist/docs');
const INPUTS = join(ROOT_DIR, 'web/dist/docs-inputs.txt');
const PRINT = join(ROOT_DIR, 'api/print-openapi.ts');

/** Folders with the inputs of the site: the guides, its own sources, and those of the OpenAPI document. */
const SOURCES = ['docs', 'web/docs', 'web/bundling', 'api', 'core', 'sql', 'clickhouse', 'analytics'];
const NO_INPUT = /\.test\.ts$|\.sql$|(^|\/)test-support(\/|\.ts$)/;

/**
 * Builds the documentation's site, unless the last build had the same inputs.
 *
 * @returns whether anything was built
 * @throws Error when the OpenAPI document can't be made
 */
export async function buildDocs(): Promise<boolean> {
  const inputs = await inputsHash();
  if ((await readFile(INPUTS, 'utf8').catch(() => '')) === inputs) return false;
  const sources = await readSources();
  const pages = pagesOf(sources);
  const built = await buildAssets(searchIndexOf(pages));
  await mkdir(SITE_DIR, { recursive: true });
  await writeFiles(SITE_DIR, built.files);
  const images = await readdir(join(ROOT_DIR, 'docs/images'));
  await mkdir(join(SITE_DIR, 'images'), { recursive: true });
  for (const image of images) await cp(join(ROOT_DIR, 'docs/images', image), join(SITE_DIR, 'images', image));
  const files = filesOf(pages, sources, built.assets);
  for (const { path, content } of files) {
    await mkdir(dirname(join(SITE_DIR, path)), { recursive: true });
    await replaceFile(join(SITE_DIR, path), content);
  }
  await removeFormer([
    ...built.files.flatMap(({ path }) => [path, `${path}.gz`, `${path}.br`]),
    ...images.map((image) => `images/${image}`),
    ...files.map(({ path }) => path),
  ]);
  await replaceFile(INPUTS, inputs);
  return true;
}

/** Hashes every input, names included. */
async function inputsHash(): Promise<string> {
  const folders = await Promise.all(
    SOURCES.map(async (folder) => {
      const entries = await readdir(join(ROOT_DIR, folder), { withFileTypes: true, recursive: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const paths = [join(ROOT_DIR, 'package-lock.json'), join(ROOT_DIR, 'package.json'), ...folders.flat()]
    .filter((path) => !NO_INPUT.test(path))
    .sort();
  const contents = await Promise.all(paths.map((path) => readFile(path)));
  const hash = createHash('sha256');
  for (const [nth, path] of paths.entries()) {
    hash.update(`${path.slice(ROOT_DIR.length)}\0`).update(contents[nth] ?? '');
  }
  return hash.digest('hex');
}

/** Reads the sources of the site. */
export async function readSources(): Promise<Sources> {
  const [guides, document, manifest] = await Promise.all([
    readGuides(join(ROOT_DIR, 'docs')),
    printedDocument(),
    readFile(join(ROOT_DIR, 'package.json'), 'utf8'),
  ]);
  const { repository } = JSON.parse(manifest) as { repository: { url: string } };
  const home = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
  return { guides, document, repository: `${home}/blob/main` };
}

async function printedDocument(): Promise<ApiDocument> {
  const flags = ['--disable-warning=ExperimentalWarning', PRINT];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { maxBuffer: 100_000_000 });
  const [printed] = JSON.parse(stdout) as [ApiDocument];
  const [server] = printed.servers;
  if (!server) throw new Error('the OpenAPI document names no server');
  return JSON.parse(JSON.stringify(printed).replaceAll(server.url, BASE_URL)) as ApiDocument;
}

/** Builds the script and the styles of the pages, with their hashes in their names. */
async function buildAssets(index: string): Promise<{ files: BuiltFile[]; assets: Assets }> {
  const [{ output }, theme] = await Promise.all([
    bundle({
      root: OWN_DIR,
      base: '/docs/assets/',
      build: {
        target: 'es2022',
        rolldownOptions: {
          input: join(OWN_DIR, 'browser/main.ts'),
          output: {
            entryFileNames: '[name]-[hash].js',
            chunkFileNames: '[name]-[hash].js',
            assetFileNames: '[name]-[hash][extname]',
          },
        },
      },
    }),
    bundle({
      root: OWN_DIR,
      build: {
        target: 'es2022',
        rolldownOptions: { input: join(OWN_DIR, 'browser/theme.ts'), output: { format: 'iife' } },
      },
    }),
  ]);
  const files = output.map((file) => ({
    path: `assets/${file.fileName}`,
    content: file.type === 'chunk' ? file.code : file.source,
  }));
  const [themeScript] = theme.output;
  const nameOf = (end: string) => files.find(({ path }) => path.endsWith(end))?.path ?? missing(end);
  const entry = output.find((file) => file.type === 'chunk' && file.isEntry)?.fileName ?? missing('entry');
  const themeFile = hashed('assets/theme', '.js', themeScript.code);
  const indexFile = hashed('assets/search', '.json', index);
  return {
    files: [...files, themeFile, indexFile],
    assets: {
      style: `/docs/${nameOf('.css')}`,
      script: `/docs/assets/${entry}`,
      theme: `/docs/${themeFile.path}`,
      index: `/docs/${indexFile.path}`,
    },
  };
}

const missing = (name: string): never => {
  throw new Error(`Vite wrote no ${name} of the documentation`);
};

function hashed(name: string, extension: string, content: string): BuiltFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  return { path: `${name}-${hash}${extension}`, content };
}

/** Removes the files of former builds. */
async function removeFormer(kept: readonly string[]): Promise<void> {
  const entries = await readdir(SITE_DIR, { withFileTypes: true, recursive: true });
  const names = new Set(kept.map((path) => join(SITE_DIR, path)));
  const gone = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.new'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !names.has(path));
  await Promise.all(gone.map((path) => rm(path, { force: true })));
}

if (import.meta.main) await buildDocs();
