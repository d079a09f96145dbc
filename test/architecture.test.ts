import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
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
  analytics: ['core', 'sql', 'clickhouse', 'analytics'],
  workers: ['core', 'sql', 'clickhouse', 'analytics', 'workers'],
  api: ['core', 'sql', 'clickhouse', 'analytics', 'api'],
  web: ['core', 'web'],
  sdk: ['sdk'],
};

/** First line of a file of `core` that browsers run too. It imports nothing of Node.js. */
const BROWSER_MARK = '// Browsers run this file too.';

/** Files outside of the settings and of `cli`, which starts processes, that touch the environment, and why. */
const ENVIRONMENT: Record<string, string> = {
  'ingest/http/uws.ts': 'uWebSockets.js reads a limit from it when it is loaded',
  'sdk/typescript/src/hoplog.ts': 'HOPLOG_URL is the address of the API where a program gives none',
};

const ROOT = join(import.meta.dirname, '..');
const run = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
const paths = run('ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx').trim().split('\n');
const sources = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const roomOf = (path: string) => path.split('/')[0] ?? '';
const isTest = (path: string) => /\.test\.tsx?$|(^|\/)test-support(\/|\.ts$)/.test(path);
const isProduct = (path: string) => !isTest(path) && roomOf(path) in { ...MAY_IMPORT, cli: true };
/** What browsers run: not the builds. */
const isBrowser = (path: string) => /^web\/(console|embed|pixel|docs\/browser)\//.test(path) && !isTest(path);

const STATIC = /^(?:import|export)\s+(type\s+)?(?:([\w*{}\s,$]+?)\s+from\s+)?'([^']+)'/gm;
const LATER = /\bimport\(\s*'(\.[^']+)'\s*\)/g;
/** A file without its comments, which may name other files and stand between names. */
const codeOf = (path: string) =>
  (sources.get(path) ?? '').replace(/^\s*\/\*\*[\s\S]*?\*\//gm, '').replace(/(^|\s)\/\/.*$/gm, '$1');
type Import = { target: string; isType: boolean; names: readonly string[] };

const targetOf = (path: string, name: string) =>
  name.startsWith('.') ? normalize(join(dirname(path), name)) : name;

/** The parts of a list such as `type A, b as c`, without `type`. */
const partsOf = (list: string) =>
  list
    .split(',')
    .map((part) => part.trim().replace(/^type\s+/, ''))
    .filter(Boolean);

/** The names that an import takes: `*` for all, `default`, or those in braces. */
function namesIn(clause: string): string[] {
  const listed = partsOf(/\{([^}]*)\}/.exec(clause)?.[1] ?? '').map((part) => part.split(/\s/)[0] ?? '');
  return [...listed, clause.includes('*') ? '*' : '', /^\w/.test(clause) ? 'default' : ''].filter(Boolean);
}

/** Imports that run or are checked when a file is loaded. */
const importsOf = (path: string): Import[] =>
  [...codeOf(path).matchAll(STATIC)].map(([, type, clause = '', name = '']) => ({
    target: targetOf(path, name),
    isType: type !== undefined,
    names: namesIn(clause),
  }));

/** Files that a file imports when it needs them. */
const laterImportsOf = (path: string): string[] =>
  [...codeOf(path).matchAll(LATER)].map(([, name = '']) => targetOf(path, name));

test('no room imports one that the table does not allow it', () => {
  const product = paths.filter((path) => isProduct(path) && roomOf(path) in MAY_IMPORT);
  expect(product.length).toBeGreaterThan(1_000);
  const wrong = product
    .filter((path) => !/^web\/(build\.ts|bundling\/)/.test(path))
    .flatMap((path) =>
      [...importsOf(path).map(({ target }) => target), ...laterImportsOf(path)]
        .filter((target) => sources.has(target) && !MAY_IMPORT[roomOf(path)]?.includes(roomOf(target)))
        .map((target) => `${path} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

test('browsers take the files of core that say so, and no others', () => {
  const reached = new Set(paths.filter(isBrowser));
  for (const path of reached) {
    const all = importsOf(path).flatMap(({ target, isType }) => (isType ? [] : target));
    for (const target of [...all, ...laterImportsOf(path)]) if (sources.has(target)) reached.add(target);
  }
  const isCore = (path: string) => roomOf(path) === 'core';
  const marked = paths.filter((path) => isCore(path) && sources.get(path)?.startsWith(`${BROWSER_MARK}\n`));
  expect(marked.toSorted()).toEqual([...reached].filter(isCore).toSorted());
  const ofNode = [...reached].filter((path) => importsOf(path).some(({ target }) => isBuiltin(target)));
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

/** What users import, and what builds read by path. */
const PUBLIC = /^(web\/bundling\/|sdk\/typescript\/src\/index\.ts$)/;

test('each export is imported; a type may only name what a function of its file takes or returns', () => {
  const imported = new Set<string>();
  for (const path of paths) {
    for (const { target, names } of importsOf(path))
      for (const name of names) imported.add(`${target} ${name}`);
    for (const target of laterImportsOf(path)) imported.add(`${target} *`);
  }
  const EXPORTED =
    /^export (?:async )?(?:abstract )?(const enum|const|let|function\*?|class|enum|type|interface) (\w+)/gm;
  const DEFAULT = /^export (default) /gm;
  const TAKEN_APART = /^export (?:const|let) [{[]([^}\]]*)[}\]] =/gm;
  const LIST = /^export (?:type )?\{([^}]*)\}/gm;
  const unused = paths
    .filter((path) => isProduct(path) && !PUBLIC.test(path) && !imported.has(`${path} *`))
    .flatMap((path) => {
      const text = sources.get(path) ?? '';
      const isNamed = (name: string) => (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1;
      const declared = [...text.matchAll(EXPORTED)]
        .filter(([, kind, name = '']) => !((kind === 'type' || kind === 'interface') && isNamed(name)))
        .map(([, , name]) => name);
      const lists = [...text.matchAll(TAKEN_APART), ...text.matchAll(LIST)].flatMap(([, list = '']) =>
        partsOf(list).map((part) => part.split(/\s+as\s+|:\s*/).at(-1)),
      );
      return [...declared, ...lists, ...[...text.matchAll(DEFAULT)].map(([, name]) => name)]
        .filter((name) => !imported.has(`${path} ${name}`))
        .map((name) => `${path} exports ${name}`);
    });
  expect(unused).toEqual([]);
});

test('only the settings read the environment', () => {
  const readers = paths.filter(
    (path) =>
      isProduct(path) &&
      !/^(cli|core\/settings|web)\//.test(path) &&
      /\bprocess\??\.env\b|\bprocess\[|= process\b(?!\.)|from '(?:node:)?process'/.test(
        sources.get(path) ?? '',
      ),
  );
  expect(readers).toEqual(Object.keys(ENVIRONMENT));
});

/** Longest line of a script or style that a person writes. Builds put a whole file into one. */
const LONGEST_LINE = 500;

test('no built file is committed', () => {
  const committed = run('ls-files').trim().split('\n');
  const NAMES =
    /(^|\/)(dist|out|build|node_modules|\.(next|nuxt|output|svelte-kit|turbo))\/|\.min\.(js|css)$|\.map$|\.tsbuildinfo$/;
  expect(committed.filter((path) => NAMES.test(path))).toEqual([]);
  const scripts = committed.filter((path) => /\.(js|mjs|cjs|jsx|css|html|vue|svelte)$/.test(path));
  expect(scripts.length).toBeGreaterThan(20);
  const long = scripts.filter((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .some((line) => line.length > LONGEST_LINE || line.includes('sourceMappingURL=')),
  );
  expect(long).toEqual([]);
});
