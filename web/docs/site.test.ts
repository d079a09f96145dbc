import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'acorn';
import MiniSearch from 'minisearch';
import { beforeAll, expect, test } from 'vitest';
import { SEARCH_OPTIONS } from '../../core/text/search-options.ts';
import { ROOT } from '../../test/docs/markdown.ts';
import { readSources } from './build.ts';
import { type ApiDocument, type Endpoint, endpointsOf, operationPath, type Schema } from './document.ts';
import { groupedGuides } from './guides.ts';
import { createRenderer } from './markdown.ts';
import type { Page } from './page.ts';
import { samplesOf } from './samples.ts';
import { filesOf, pagesOf, type Sources, searchIndexOf } from './site.ts';

const ASSETS = {
  style: '/docs/assets/a.css',
  script: '/docs/assets/a.js',
  theme: '/docs/assets/t.js',
  index: '/docs/assets/s.json',
};

let sources: Sources;
let pages: Map<string, Page>;
/** Content by path below `/docs/`. */
let files: Map<string, string>;

beforeAll(async () => {
  sources = await readSources();
  const all = pagesOf(sources);
  pages = new Map(all.map((page) => [page.path, page]));
  files = new Map(filesOf(all, sources, ASSETS).map(({ path, content }) => [path, content]));
});

const fileAt = (path: string): string => files.get(`${path.replace(/^\/docs\/?/, '') || 'index'}.html`) ?? '';
const idsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

test('every operation, event and error code of the document has a page', () => {
  const { document } = sources;
  const endpoints = endpointsOf(document);
  expect(endpoints.length).toBeGreaterThan(130);
  const codes = document.components.schemas.ErrorCode?.enum as string[];
  const wanted = [
    ...endpoints.map(({ operation }) => operationPath(operation.operationId)),
    ...Object.keys(document.webhooks).map((type) => `/docs/webhooks/${type}`),
    ...codes.map((code) => `/docs/errors/${code}`),
  ];
  expect(wanted.filter((path) => !pages.has(path))).toEqual([]);
  const shown = ({ method, path, operation }: Endpoint) => {
    const html = fileAt(operationPath(operation.operationId));
    return html.includes(`<code>${path}</code>`) && html.includes(`>${method}</span>`);
  };
  expect(endpoints.filter((endpoint) => !shown(endpoint))).toEqual([]);
});

/** Adds the fields of a schema, each with its containing field. A type that contains itself is not followed again. */
function fieldsIn(
  document: ApiDocument,
  schema: Schema | undefined,
  parent: string,
  found: Set<string>,
  seen: string[] = [],
): void {
  if (!schema) return;
  if (schema.$ref) {
    if (seen.includes(schema.$ref)) return;
    const name = schema.$ref.split('/').at(-1) ?? '';
    fieldsIn(document, document.components.schemas[name], parent, found, [...seen, schema.$ref]);
    return;
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    found.add(`${parent} ${name}`);
    fieldsIn(document, property, name, found, seen);
  }
  const inner = [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), schema.additionalProperties];
  for (const one of inner) if (typeof one === 'object') fieldsIn(document, one, parent, found, seen);
}

test('every parameter and every field of requests, responses and events is on its page, with an anchor', () => {
  const { document } = sources;
  const missing: string[] = [];
  let count = 0;
  const check = (path: string, wanted: Set<string>) => {
    const ids = [...idsOf(fileAt(path))].map((id) =>
      id.replace(/\[\]|\.\*/g, '').replace(/\.[A-Z]\w*(?: \d+)?(?=\.|$)/g, ''),
    );
    for (const pair of wanted) {
      const [parent = '', name = ''] = pair.split(' ');
      count += 1;
      if (!ids.some((id) => `.${id}`.endsWith(`.${parent}.${name}`)))
        missing.push(`${path}: ${parent}.${name}`);
    }
  };
  for (const { operation } of endpointsOf(document)) {
    const wanted = new Set<string>(
      (operation.parameters ?? []).map(({ in: place, name }) => `${place} ${name}`),
    );
    for (const { schema } of Object.values(operation.requestBody?.content ?? {}))
      fieldsIn(document, schema, 'body', wanted);
    const known = new Map<string, string>();
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      if (/^[45]/.test(status)) continue;
      for (const { schema } of Object.values(content)) {
        // Two statuses with the same fields show them once.
        const text = JSON.stringify(schema);
        fieldsIn(document, schema, known.get(text) ?? status, wanted);
        known.set(text, known.get(text) ?? status);
      }
    }
    check(operationPath(operation.operationId), wanted);
  }
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const wanted = new Set<string>((post.parameters ?? []).map(({ name }) => `header ${name}`));
    fieldsIn(document, post.requestBody?.content['application/json']?.schema, 'body', wanted);
    check(`/docs/webhooks/${type}`, wanted);
  }
  expect(count).toBeGreaterThan(3_000);
  expect(missing).toEqual([]);
});

test('every link of every page, and of its Markdown, leads somewhere', () => {
  const broken: string[] = [];
  let count = 0;
  const known = new Set([
    '/api/v1/openapi.json',
    '/llms.txt',
    '/llms-full.txt',
    '/console',
    ...Object.values(ASSETS),
  ]);
  const check = (from: string, target: string) => {
    count += 1;
    const [path = '', anchor] = target.split('#');
    if (known.has(path) || /^(https?|mailto|data):/.test(path)) {
      if (
        path.startsWith(sources.repository) &&
        !existsSync(join(ROOT, path.slice(sources.repository.length)))
      ) {
        broken.push(`${from}: ${target}`);
      }
      return;
    }
    if (path.startsWith('/docs/images/')) {
      if (!existsSync(join(ROOT, path))) broken.push(`${from}: ${target}`);
      return;
    }
    const own = path === '' ? from : path;
    const html = own.endsWith('.md') ? files.get(own.replace('/docs/', '')) : fileAt(own);
    if (!html) broken.push(`${from}: ${target}`);
    else if (
      anchor !== undefined &&
      !idsOf(own.endsWith('.md') ? fileAt(own.slice(0, -3)) : html).has(decodeURI(anchor))
    ) {
      broken.push(`${from}: ${target}`);
    }
  };
  for (const page of pages.values()) {
    for (const [, target = ''] of fileAt(page.path).matchAll(/ (?:href|src)="([^"]+)"/g)) {
      check(page.path, target.replaceAll('&amp;', '&'));
    }
    const prose = page.markdown.replace(/^ *```.*?^ *```/gms, '').replace(/`[^`\n]*`/g, '``');
    for (const [, target = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) check(page.path, target);
  }
  expect(count).toBeGreaterThan(10_000);
  expect(broken).toEqual([]);
});

test('search finds an operation by a field, a guide by a word, an error by its code, and an event by its name', () => {
  const index = MiniSearch.loadJSON(searchIndexOf([...pages.values()]), SEARCH_OPTIONS);
  const found = (query: string) =>
    index
      .search(query)
      .slice(0, 8)
      .map(({ url }) => String(url));
  expect(found('forward_query')).toContain('/docs/api/links.create');
  expect(found('idempotency_key_reused')[0]).toBe('/docs/errors/idempotency_key_reused');
  expect(found('sale.created')[0]).toBe('/docs/webhooks/sale.created');
  expect(found('links.create')[0]).toBe('/docs/api/links.create');
  expect(found('bio-pages availability')).toContain('/docs/api/bioPages.checkAvailability');
  expect(found('pgbouncer').some((url) => url.startsWith('/docs/operations/pgbouncer'))).toBe(true);
  expect(found('analytcs').some((url) => url.startsWith('/docs/analytics'))).toBe(true);
  expect(found('no such words anywhere')).toEqual([]);
});

test('the samples are valid code of their languages, and have each example value', () => {
  const samples = endpointsOf(sources.document).map((endpoint) => ({
    id: endpoint.operation.operationId,
    code: Object.fromEntries(samplesOf(endpoint).map(({ label, code }) => [label, code])),
  }));
  for (const { id, code } of samples) {
    expect(() => parse(code['Node.js'] ?? '', { ecmaVersion: 2024, sourceType: 'module' }), id).not.toThrow();
  }
  const shell = samples.map(({ code }) => code.curl).join('\n');
  execFileSync('bash', ['-n'], { input: shell });
  const python = 'import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)';
  execFileSync('python3', ['-c', python], { input: JSON.stringify(samples.map(({ code }) => code.Python)) });
  const create = samples.find(({ id }) => id === 'links.create')?.code ?? {};
  for (const code of Object.values(create)) {
    expect(code).toContain('https://shop.example/autumn');
    expect(code).toMatch(/Idempotency-Key/);
    expect(code).toContain('YOUR_SECRET_KEY');
  }
});

test('an operation says which keys may call it, and how it is retried', () => {
  const textOf = (id: string) => fileAt(operationPath(id)).replace(/<[^>]+>/g, '');
  expect(textOf('links.create')).toMatch(/A restricted key needs links\./);
  expect(textOf('links.get')).toMatch(/A restricted key needs read or links\./);
  expect(textOf('webhooks.create')).toMatch(/A restricted key may not call it\./);
  expect(textOf('keys.create')).toMatch(/It needs manage\./);
  expect(textOf('referrals.enroll')).toMatch(/publishable workspace key/);
  expect(textOf('links.create')).toMatch(/Safe with an Idempotency-Key/);
});

test('the list for programs names each page, and each is in the whole text', () => {
  const index = files.get('llms.txt') ?? '';
  const whole = files.get('llms-full.txt') ?? '';
  const markdown = [...files.keys()].filter((path) => path.endsWith('.md'));
  const unlisted = markdown.filter((path) => !index.includes(`/docs/${path})`));
  // `index.md` is the list itself. An index of guides has two names.
  expect(unlisted.toSorted()).toEqual(['index.md', 'operations/README.md']);
  expect([...pages.keys()].filter((path) => path !== '/docs' && !whole.includes(`${path}.md -->`))).toEqual(
    [],
  );
  expect(index.split('\n')[0]).toBe('# Hoplog');
});

test('a guide that no group names is in the navigation', () => {
  const guide = { file: 'new-guide.md', text: '# New', title: 'New' };
  const groups = groupedGuides([...sources.guides, guide]);
  expect(groups.find(({ guides }) => guides.includes(guide))?.title).toBe('More');
  const listed = groups.flatMap(({ guides }) => guides);
  expect(sources.guides.filter((one) => one.file !== 'webhooks.md' && !listed.includes(one))).toEqual([]);
});

test('text of a guide or of the document is shown as text, and names of calls lead to their pages', () => {
  const renderer = createRenderer({
    href: (target) => target,
    codePage: (code) => (code === 'GET /links' ? '/docs/api/links.list' : null),
  });
  expect(renderer.block('a <script>alert(1)</script> `<b>`').markup).toBe(
    '<p>a &lt;script&gt;alert(1)&lt;/script&gt; <code>&lt;b&gt;</code></p>\n',
  );
  expect(renderer.inline('see `GET /links`').markup).toBe(
    'see <a href="/docs/api/links.list"><code>GET /links</code></a>',
  );
  expect(renderer.inline('[`GET /links`](other.md)').markup).toBe(
    '<a href="other.md"><code>GET /links</code></a>',
  );
});
