import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The plan of the house: which room may import which, as the table in CONTRIBUTING.md says. `web` may take the files of
 * `core` that say {@link BROWSER_MARK}. Rooms that are not here may import all.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: ['core'],
  sql: ['core', 'sql'],
  clickhouse: ['core', 'clickhouse'],
  ingest: ['core', 'sql', 'ingest'],
  workers: ['core', 'sql', 'clickhouse', 'workers'],
  api: ['core', 'sql', 'clickhouse', 'api'],
  web: ['core', 'web'],
};

/** First line of a file of `core` that browsers run too. It imports nothing of Node.js. */
const BROWSER_MARK = '// Browsers run this file too.';

/** Files outside of the settings and of `cli`, which starts processes, that touch the environment, and why. */
const ENVIRONMENT: Record<string, string> = {
  'ingest/http/uws.ts': 'uWebSockets.js reads a limit from it when it is loaded',
};

const ROOT = join(import.meta.dirname, '..');
const run = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
const paths = run('ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx').trim().split('\n');
const sources = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const roomOf = (path: string) => path.split('/')[0] ?? '';
const isTest = (path: string) => /\.test\.tsx?$|(^|\/)test-support(\/|\.ts$)/.test(path);
const isProduct = (path: string) => !isTest(path) && roomOf(path) in { ...MAY_IMPORT, cli: true };
/** What browsers run: not the builds. */
const isBrowser = (path: string) => /^web\/(console|embed|pixel)\//.test(path) && !isTest(path);

const STATIC = /^(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?'([^']+)'/gm;
type Import = { target: string; isType: boolean };
/** Imports that run or are checked when a file is loaded; of `import()` none. */
const importsOf = (path: string): Import[] =>
  [...(sources.get(path) ?? '').matchAll(STATIC)].map(([, type, name = '']) => ({
    target: name.startsWith('.') ? normalize(join(dirname(path), name)) : name,
    isType: type !== undefined,
  }));

test('no room imports one that the table does not allow it', () => {
  const product = paths.filter((path) => isProduct(path) && roomOf(path) in MAY_IMPORT);
  expect(product.length).toBeGreaterThan(1_000);
  const wrong = product
    .filter((path) => !/^web\/(build\.ts|bundling\/)/.test(path))
    .flatMap((path) =>
      importsOf(path)
        .filter(({ target }) => sources.has(target) && !MAY_IMPORT[roomOf(path)]?.includes(roomOf(target)))
        .map(({ target }) => `${path} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

test('browsers take the files of core that say so, and no others', () => {
  const reached = new Set(paths.filter(isBrowser));
  for (const path of reached) {
    const later = [...(sources.get(path) ?? '').matchAll(/\bimport\('(\.[^']+)'\)/g)];
    const all = later.map(([, name = '']) => normalize(join(dirname(path), name)));
    all.push(...importsOf(path).flatMap(({ target, isType }) => (isType ? [] : target)));
    for (const target of all) if (sources.has(target)) reached.add(target);
  }
  const isCore = (path: string) => roomOf(path) === 'core';
  const marked = paths.filter((path) => isCore(path) && sources.get(path)?.startsWith(`${BROWSER_MARK}\n`));
  expect(marked.toSorted()).toEqual([...reached].filter(isCore).toSorted());
  const ofNode = marked.filter((path) => importsOf(path).some(({ target }) => target.startsWith('node:')));
  expect(ofNode).toEqual([]);
});

test('no files import each other in a circle', () => {
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    state.set(path, 'open');
    for (const { target, isType } of importsOf(path)) {
      if (isType || !sources.has(target)) continue;
      if (state.get(target) === 'open') circles.push([...way.slice(way.indexOf(target)), target].join(' → '));
      else if (!state.has(target)) visit(target, [...way, target]);
    }
    state.set(path, 'done');
  };
  for (const path of paths.filter(isProduct)) if (!state.has(path)) visit(path, [path]);
  expect(circles).toEqual([]);
});

test('each export is named in another place', () => {
  const named = new Map<string, number>();
  for (const text of sources.values()) {
    for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g)) named.set(word, (named.get(word) ?? 0) + 1);
  }
  const EXPORTED = /^export (?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/gm;
  const unused = paths
    .filter((path) => isProduct(path) && roomOf(path) !== 'cli')
    .flatMap((path) =>
      [...(sources.get(path) ?? '').matchAll(EXPORTED)]
        .filter(([, name = '']) => named.get(name) === 1)
        .map(([, name]) => `${path} exports ${name}`),
    );
  expect(unused).toEqual([]);
});

test('only the settings read the environment', () => {
  const readers = paths.filter(
    (path) =>
      isProduct(path) &&
      !/^(cli|core\/settings|web)\//.test(path) &&
      /\bprocess\.env\b/.test(sources.get(path) ?? ''),
  );
  expect(readers).toEqual(Object.keys(ENVIRONMENT));
});

test('no built file is committed', () => {
  // Files that a build wrote have long lines, or a map beside them. Tables of data are not scripts.
  const built = run('ls-files').trim().split('\n');
  expect(built.filter((path) => /(^|\/)dist\/|\.min\.(js|css)$|\.map$|\.tsbuildinfo$/.test(path))).toEqual(
    [],
  );
});
