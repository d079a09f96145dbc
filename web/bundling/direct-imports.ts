import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** Where an exported name really comes from. */
type Origin = { path: string; imported: string };

const PACKAGES = ['@mantine/core', '@mantine/hooks', '@mantine/notifications', '@tabler/icons-react'];
const IMPORT = new RegExp(String.raw`import\s*\{([^}]*)\}\s*from\s*["'](${PACKAGES.join('|')})["'];?`, 'g');

/**
 * Lets imports of a library's index go to the files that it re-exports. The bundler splits code by file: through one
 * index every page would reach every component that any page uses, and all of them would be loaded at first.
 */
export function directImports(): Plugin {
  return {
    name: 'direct-imports',
    setup(build) {
      const indexes = new Map<string, Promise<Map<string, Origin>>>();
      const indexOf = async (name: string, resolveDir: string) => {
        const { path, errors } = await build.resolve(name, { kind: 'import-statement', resolveDir });
        if (errors.length > 0) throw new Error(`${name} is not installed`);
        const known = indexes.get(path) ?? readIndex(path);
        indexes.set(path, known);
        return known;
      };
      const ours = /[\\/]web[\\/]console[\\/].*\.tsx?$/;
      const theirs = /[\\/]@mantine[\\/](core|notifications)[\\/]esm[\\/].*\.mjs$/;
      build.onLoad({ filter: ours }, ({ path }) => load(path, path.endsWith('x') ? 'tsx' : 'ts', indexOf));
      build.onLoad({ filter: theirs }, ({ path }) => load(path, 'js', indexOf));
    },
  };
}

async function load(
  path: string,
  loader: 'ts' | 'tsx' | 'js',
  indexOf: (name: string, resolveDir: string) => Promise<Map<string, Origin>>,
) {
  const text = await readFile(path, 'utf8');
  const named = PACKAGES.filter((name) => text.includes(name));
  const found = new Map(
    await Promise.all(named.map(async (name) => [name, await indexOf(name, dirname(path))] as const)),
  );
  const contents = text.replace(IMPORT, (whole: string, names: string, from: string) => {
    const index = found.get(from) ?? new Map<string, Origin>();
    // As many lines as before: the bundler's errors name lines.
    return (
      namesIn(names)
        .map((name) => directly(name, from, index))
        .join(' ') + whole.replace(/[^\n]/g, '')
    );
  });
  return { contents, loader };
}

/** `A, B as C, type D` as pairs of what is imported and what it is called here, without types. */
function namesIn(list: string): [imported: string, local: string][] {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => {
      const [imported = '', local = imported] = one.split(/\s+as\s+/);
      return [imported, local];
    });
}

function directly([name, local]: [string, string], from: string, index: ReadonlyMap<string, Origin>): string {
  const origin = index.get(name);
  if (!origin) throw new Error(`${from} exports no ${name}`);
  return `import { ${origin.imported} as ${local} } from ${JSON.stringify(origin.path)};`;
}

/** What a library's index exports, by name. It imports and exports under names, or re-exports. */
async function readIndex(file: string): Promise<Map<string, Origin>> {
  const text = await readFile(file, 'utf8');
  const imported = new Map<string, Origin>();
  const exported = new Map<string, Origin>();
  const path = (from: string) => (from.startsWith('.') ? join(dirname(file), from) : from);
  for (const [, names = '', from = ''] of text.matchAll(/import\s*\{([^}]*)\}\s*from\s*["']([^"']+)["']/g))
    for (const [theirs, local] of namesIn(names)) imported.set(local, { path: path(from), imported: theirs });
  for (const [, local = '', from = ''] of text.matchAll(/import\s+(\w+)\s+from\s*["']([^"']+)["']/g))
    imported.set(local, { path: path(from), imported: 'default' });
  for (const [, names = '', from] of text.matchAll(/export\s*\{([^}]*)\}(?:\s*from\s*["']([^"']+)["'])?/g)) {
    for (const [theirs, outside] of namesIn(names)) {
      const origin = from === undefined ? imported.get(theirs) : { path: path(from), imported: theirs };
      if (origin) exported.set(outside, origin);
    }
  }
  return exported;
}
