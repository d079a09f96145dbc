import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { LinkRecord } from '../../api/links/schemas.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { untilVisible } from '../faults/accounting.ts';
import { type Clicked, clickLinks, firstVisits } from '../support/clicker.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';

/**
 * The guide's code against a running product: a warehouse has each click once, also when loads are killed.
 * `CLICKS_PER_SECOND=100` for the rate of a busy site, which takes a minute.
 */

const run = promisify(execFile);
const PYTHON = fileURLToPath(new URL('.venv/bin/python', import.meta.url));
const GUIDE = readDocument('docs/warehouse.md');
const [PROGRAM = ''] = blocksOf(GUIDE, 'python');

const CLICKS = 5_000;
const CLICKS_PER_SECOND = Number(process.env.CLICKS_PER_SECOND ?? 1_000);
/** A connection of the clicker waits this long between two clicks. */
const PACE_MS = 100;

/** What dlt names the file of the pipeline. */
const DATABASE = 'click_sync.duckdb';

type Page = { clicks: { id: string; visitor_id: string }[]; next_cursor: string | null };

let served: ServedWorkspace;
let folder: string;
let proxy: Server;
let shortUrl: string;
/** The visitor of each click. */
let made: string[] = [];
let clicking: Promise<Clicked>;
/** Called with each page that a load requests, and with each that it got. */
let onPage = (_page: Page | null): void => {};

beforeAll(async () => {
  served = await servedWorkspace();
  folder = mkdtempSync(join(tmpdir(), 'hoplog-warehouse-'));
  writeFileSync(join(folder, 'clicks.py'), PROGRAM);
  proxy = createServer(async (request, response) => {
    onPage(null);
    const { authorization = '' } = request.headers;
    const answer = await fetch(`${served.service.api_url}${request.url}`, { headers: { authorization } });
    const text = await answer.text();
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      .end(text, () => answer.ok && onPage(JSON.parse(text) as Page));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const created = await call<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Warehouse',
    channel: 'website',
  });
  shortUrl = created.links[0]?.short_url ?? '';
  const visitors = await firstVisits([shortUrl]);
  clicking = clickLinks({
    urls: [shortUrl],
    count: CLICKS - visitors.length,
    connections: (CLICKS_PER_SECOND * PACE_MS) / 1_000,
    paceMs: PACE_MS,
  }).then((clicked) => {
    made = [...visitors, ...clicked.answered];
    return clicked;
  });
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(`${served.service.api_url}${path}`, {
    headers: {
      authorization: `Bearer ${served.service.demo.secret_key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([response.ok, text]).toEqual([true, text]);
  return JSON.parse(text) as T;
}

const environment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  API: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  KEY: served.service.demo.secret_key,
  // As root dlt keeps its state in /var/dlt.
  DLT_DATA_DIR: join(folder, 'dlt'),
  RUNTIME__DLTHUB_TELEMETRY: 'false',
});

/** Waits until all clicks are made and settled. */
async function everyClick(): Promise<void> {
  const { refused, unanswered } = await clicking;
  expect([refused.size, unanswered, made.length]).toEqual([0, [], CLICKS]);
  await untilVisible(served.service, served.service.demo.secret_key, Date.now());
}

/** When a load is killed: at a page that it asks for, at one that it got, and while it writes into the warehouse. */
type Kill = { asks?: (got: number) => boolean; got?: (page: Page) => boolean; writes?: true };

/** Starts a load. @returns whether it was killed */
async function load({ asks, got, writes }: Kill = {}): Promise<boolean> {
  const child: ChildProcess = spawn(PYTHON, ['clicks.py'], { cwd: folder, env: environment() });
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const kill = () => child.kill('SIGKILL');
  let count = 0;
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += String(chunk);
  });
  onPage = (page) => {
    if (page) count += 1;
    if (page ? got?.(page) : asks?.(count)) kill();
  };
  const watcher = writes && watch(folder, (_, file) => file === `${DATABASE}.wal` && kill());
  const [code, signal] = await closed;
  watcher?.close();
  if (code !== 0 && signal === null) throw new Error(errors);
  return signal !== null;
}

/** Returns what is in the warehouse: rows, ids, and visitors. */
async function warehouse(): Promise<{ rows: number; ids: number; visitors: string[] }> {
  const program = `
import duckdb, json
rows = duckdb.connect('${DATABASE}', read_only=True).execute('SELECT id, visitor_id FROM hoplog.clicks').fetchall()
print(json.dumps({'rows': len(rows), 'ids': len({r[0] for r in rows}), 'visitors': sorted(r[1] for r in rows)}))`;
  const { stdout } = await run(PYTHON, ['-c', program], { cwd: folder, maxBuffer: 16 * 1_048_576 });
  return JSON.parse(stdout);
}

test(`dlt loads each of ${CLICKS} clicks once, ${CLICKS_PER_SECOND} a second, although three loads are killed`, async ({
  skip,
}) => {
  skip(
    !existsSync(PYTHON),
    'no dlt: python3 -m venv test/warehouse/.venv && test/warehouse/.venv/bin/pip install -r test/warehouse/requirements.txt',
  );
  const killed = [await load({ asks: (got) => got === 0 }), await load({ writes: true })];
  await everyClick();
  // Every page is read, and nothing is written.
  const allRead = { got: ({ next_cursor }: Page) => next_cursor === null };
  // The load after a killed one may only write what the killed one had read.
  killed.push((await load(allRead)) || (await load(allRead)));
  expect(killed).toEqual([true, true, true]);
  // The first one writes what the killed ones had read.
  for (let loads = 0; loads < 2; loads++) expect(await load()).toBe(false);
  expect(await warehouse()).toEqual({ rows: CLICKS, ids: CLICKS, visitors: made.sort() });
  // A minute of clicks, and seven starts of Python.
}, 600_000);

test('the SQL of the guide loads each click once', async () => {
  await everyClick();
  const [table = '', since = '', insert = ''] = blocksOf(GUIDE, 'sql');
  const client = await served.pool.connect();
  try {
    await client.query(`CREATE TEMPORARY ${table.replace('CREATE ', '')}`);
    const request = /`\$API(\/clicks\?[^`]*)…`/.exec(GUIDE)?.[1];
    for (let isLast = false; !isLast; ) {
      const { rows } = await client.query<{ since: string }>(since);
      const page = await call<Page>(`${request}${rows[0]?.since}`);
      await client.query(insert, [JSON.stringify(page)]);
      isLast = page.next_cursor === null;
    }
    const { rows } = await client.query<{ visitor_id: string }>('SELECT visitor_id FROM clicks');
    expect(rows.map(({ visitor_id }) => visitor_id).sort()).toEqual(made.sort());
  } finally {
    client.release(true);
  }
});

test("the connector of the guide sends the API's parameters and reads its fields", async () => {
  await everyClick();
  const [text = ''] = blocksOf(GUIDE, 'yaml');
  const manifest = parse(text) as Manifest;
  const [{ retriever, incremental_sync: sync, primary_key: key }] = manifest.streams;
  const { paginator, requester, record_selector: selector } = retriever;
  const query = new URLSearchParams(requester.request_parameters);
  query.set(sync.start_time_option.field_name, '2026-01-01T00:00:00.000000Z');
  const [first] = selector.extractor.field_path;
  const cursor = /response\['(\w+)'\]/.exec(paginator.pagination_strategy.cursor_value)?.[1] ?? '';
  const ids = new Set<string>();
  for (let pages = 0; pages === 0 || query.get(paginator.page_token_option.field_name); pages++) {
    const page = await call<Record<string, unknown>>(`${requester.path}?${query}`);
    for (const row of page[first] as Record<string, string>[]) {
      expect(row[sync.cursor_field]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      ids.add(row[key[0]] ?? '');
    }
    query.set(paginator.page_token_option.field_name, String(page[cursor] ?? ''));
  }
  expect(ids.size).toBe(made.length);
});

type Manifest = {
  streams: [
    {
      primary_key: [string];
      retriever: {
        requester: { path: string; request_parameters: Record<string, string> };
        record_selector: { extractor: { field_path: [string] } };
        paginator: {
          page_token_option: { field_name: string };
          pagination_strategy: { cursor_value: string };
        };
      };
      incremental_sync: { cursor_field: string; start_time_option: { field_name: string } };
    },
  ];
};
