import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ANALYST_PREFIX,
  analystDatabase,
  canCreateUsers,
  findLeak,
  listAnalysts,
  renewAnalystViews,
} from '../clickhouse/analysts/index.ts';
import { rowsUser } from '../clickhouse/analysts/names.ts';
import {
  analystStatements,
  dropAnalystStatements,
  dropWorkspaceStatements,
  rowsUserStatements,
  viewStatements,
} from '../clickhouse/analysts/statements.ts';
import { ANALYST_TABLES, analystViews } from '../clickhouse/analysts/views.ts';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { uuidv7 } from '../core/ids.ts';
import { blocksOf, readDocument } from './docs/markdown.ts';
import { type AnalystServer, startAnalystServer } from './support/analyst-server.ts';
import { temporaryDirectory } from './support/process-fixtures.ts';
import { NO_UUID, storeClicks, storeShares } from './support/stored-events.ts';

/** Analysts of two workspaces: one tries to see the rows of the other. */

const DATABASE = 'hoplog';
const PASSWORD = 'a password of an analyst';
const SECRET = 'victim-secret';
/**
 * Responses of a server that did nothing. An error of a file or a connection, such as to port 1, would hide a right.
 */
const REFUSED =
  /\((ACCESS_DENIED|READONLY|SUPPORT_IS_DISABLED|UNKNOWN_TABLE|UNKNOWN_DATABASE|CLUSTER_DOESNT_EXIST|CANNOT_EXTRACT_TABLE_STRUCTURE)\)/;

const directory = temporaryDirectory();
const [own, victim] = [uuidv7(), uuidv7()];
const OWN_VIEWS = analystDatabase(DATABASE, own);
const VICTIM_VIEWS = analystDatabase(DATABASE, victim);
const analysts = [own, victim].map((workspaceId, n) => ({
  user: `${ANALYST_PREFIX}${n}`,
  workspaceId,
  passwordHash: createHash('sha256').update(PASSWORD).digest('hex'),
}));

let server: AnalystServer;
let service: ClickHouseClient;

beforeAll(async () => {
  server = await startAnalystServer(directory.path, DATABASE, analysts);
  const owner = createClickHouse({ url: server.url, database: 'default', timeoutMs: 120_000 });
  await migrate(owner, { database: DATABASE }).finally(() => owner.close());
  service = createClickHouse({ url: server.url, database: DATABASE, timeoutMs: 120_000 });
  await renewAnalystViews(service, DATABASE);
  for (const [workspaceId, mark] of [
    [own, 'own'],
    [victim, SECRET],
  ] as const) {
    await storeEvents(workspaceId, mark);
  }
});
afterAll(async () => {
  await service?.close();
  await server?.stop();
  directory.remove();
});

/** Clicks, an identify, an order and shares of a workspace, each with a mark in it. */
async function storeEvents(workspaceId: string, mark: string): Promise<void> {
  const visitorId = uuidv7();
  const click = {
    workspaceId,
    visitorId,
    channel: 'reddit',
    columns: { utm_source: mark, utm_campaign: mark },
  };
  await storeClicks({ clickhouse: service }, [
    click,
    { ...click, channel: 'facebook' },
    { ...click, isBot: true },
    { ...click, linkId: NO_UUID, columns: { domain: 'go.example', slug: mark } },
  ]);
  const columns = { utm_source: mark, utm_campaign: mark };
  const part = { linkId: uuidv7(), channel: 'reddit', columns };
  await storeShares({ clickhouse: service }, [
    { workspaceId, parts: [{ ...part, share: 1, amountMinor: 500 }] },
    { workspaceId, parts: [{ ...part, share: 0, lead: 1, amountMinor: 0 }] },
  ]);
  const person = { workspace_id: workspaceId, visitor_id: visitorId, email: `${mark}@example.com` };
  const ts = '2026-11-20 10:00:00';
  await service.insert({ table: 'identifies', values: [{ ...person, ts }], format: 'JSONEachRow' });
  const later = new Date(Date.now() + 60_000).toISOString().slice(0, 19).replace('T', ' ');
  const order = { ...person, ts: later, order_id: mark, version: 1, amount_minor: 500, currency: 'usd' };
  await service.insert({ table: 'orders', values: [order], format: 'JSONEachRow' });
}

/** Sends a query as the analyst of the own workspace. */
async function ask(sql: string, parameters = ''): Promise<{ status: number; text: string }> {
  const url = new URL(`/${parameters}`, server.url);
  url.username = '';
  url.password = '';
  const authorization = `Basic ${Buffer.from(`${analysts[0]?.user}:${PASSWORD}`).toString('base64')}`;
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body: sql });
  return { status: response.status, text: await response.text() };
}

async function rows(sql: string): Promise<string> {
  const { status, text } = await ask(sql);
  expect([sql, status, text]).toEqual([sql, 200, text]);
  return text.trim();
}

test('each view has the rows of the own workspace, and all of them', async () => {
  const counts = await rows(
    `SELECT (SELECT count() FROM clicks), (SELECT count() FROM identifies), (SELECT count() FROM orders),
      (SELECT count() FROM attributions)`,
  );
  expect(counts).toBe('4\t1\t1\t2');
  expect(await rows('SELECT countIf(NOT is_bot AND NOT is_orphan) FROM clicks')).toBe('2');
  for (const view of Object.keys(analystViews(DATABASE))) {
    const text = await rows(`SELECT * FROM ${view} FORMAT JSONEachRow`);
    expect([view, text.includes('own'), text.includes(SECRET)]).toEqual([view, true, false]);
  }
});

test('the service still reads the rows of all workspaces', async () => {
  const result = await service.query({ query: 'SELECT count() AS n FROM clicks', format: 'JSONEachRow' });
  expect(await result.json()).toEqual([{ n: '8' }]);
});

describe('an analyst sees nothing of another workspace', () => {
  test.each([
    ['the tables', ANALYST_TABLES.map((table) => `SELECT * FROM hoplog.${table}`)],
    [
      'all tables of the database',
      ['SELECT * FROM hoplog.clicks_rolled_up', 'SELECT * FROM hoplog.migrations'],
    ],
    ['views of another workspace', [`SELECT * FROM ${VICTIM_VIEWS}.clicks`]],
    [
      'system tables',
      [
        'parts',
        'processes',
        'query_log',
        'users',
        'row_policies',
        'grants',
        'parts_columns',
        'mutations',
        'merges',
      ].map((table) => `SELECT * FROM system.${table}`),
    ],
    ['information_schema', ['SELECT * FROM information_schema.tables']],
    [
      'table functions',
      [
        `SELECT * FROM merge('hoplog', 'clicks')`,
        `SELECT * FROM merge('.*', 'clicks') WHERE utm_source = '${SECRET}' AND throwIf(1)`,
        `SELECT * FROM remote('127.0.0.1', 'hoplog', 'clicks')`,
        `SELECT * FROM remoteSecure('127.0.0.1', 'hoplog', 'clicks')`,
        `SELECT * FROM cluster('default', 'hoplog', 'clicks')`,
        `SELECT * FROM mergeTreeIndex('hoplog', 'clicks')`,
        `SELECT * FROM loop('hoplog', 'clicks') LIMIT 1`,
      ],
    ],
    [
      'functions that reach outside',
      [
        `SELECT * FROM file('users.xml', 'LineAsString')`,
        `SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString', 'a String')`,
        `SELECT * FROM s3('http://127.0.0.1:1/bucket/x', 'CSV', 'a String')`,
        `SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')`,
        `SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')`,
        `SELECT * FROM executable('id', 'TSV', 'a String')`,
        `INSERT INTO FUNCTION file('x.csv') SELECT 1`,
      ],
    ],
    [
      'changes',
      [
        'CREATE TABLE x (a Int8) ENGINE = Memory',
        `CREATE TEMPORARY TABLE x (a Int8)`,
        `CREATE VIEW x AS SELECT 1`,
        `DROP VIEW clicks`,
        `CREATE USER x`,
        `ALTER USER ${analysts[0]?.user} SETTINGS readonly = 0`,
        `DROP ROW POLICY ${rowsUser(own)} ON hoplog.clicks`,
        `GRANT SELECT ON hoplog.clicks TO ${analysts[0]?.user}`,
        `EXECUTE AS ${rowsUser(victim)} SELECT 1`,
        `SYSTEM FLUSH LOGS`,
        `KILL QUERY WHERE 1`,
        `BACKUP DATABASE hoplog TO File('x')`,
      ],
    ],
  ])('through %s', async (_, queries) => {
    const done: [query: string, answer: string][] = [];
    for (const query of queries) {
      const { status, text } = await ask(query);
      if (status < 400 || !REFUSED.test(text) || text.includes(SECRET)) done.push([query, text]);
    }
    expect(done).toEqual([]);
  });

  test('by names that it can list', async () => {
    const text = await rows('SELECT database, name, total_rows, total_bytes FROM system.tables FORMAT TSV');
    const names = text.split('\n').map((line) => line.split('\t'));
    expect(new Set(names.map(([database]) => database))).toEqual(new Set([OWN_VIEWS]));
    for (const [, name, count, bytes] of names) expect([name, count, bytes]).toEqual([name, '\\N', '\\N']);
    expect(await rows('SHOW DATABASES')).toBe(OWN_VIEWS);
    expect(await rows('SELECT DISTINCT database FROM system.columns')).toBe(OWN_VIEWS);
  });

  // A condition that is evaluated before the policy would fail on the rows of others, and so reveal them.
  test.each([
    `SELECT count() FROM clicks WHERE throwIf(utm_source = '${SECRET}') = 0`,
    `SELECT count() FROM clicks WHERE throwIf(utm_source = '${SECRET}') = 0 SETTINGS enable_analyzer = 0`,
    `SELECT count() FROM clicks WHERE intDiv(1, utm_source != '${SECRET}') = 1
      SETTINGS move_all_conditions_to_prewhere = 1, query_plan_merge_filters = 1`,
    `SELECT count() FROM attributions WHERE throwIf(utm_source = '${SECRET}') = 0`,
    `SELECT count() FROM orders WHERE throwIf(order_id = '${SECRET}') = 0`,
    `SELECT count() FROM identifies WHERE throwIf(email = '${SECRET}@example.com') = 0`,
  ])('by an error of %s', async (query) => {
    expect(Number(await rows(query))).toBeGreaterThan(0);
  });

  test('by signing in as another user', async () => {
    for (const user of [rowsUser(own), rowsUser(victim), 'default', 'hoplog']) {
      for (const password of ['', PASSWORD]) {
        const { status } = await ask('SELECT 1', `?user=${user}&password=${encodeURIComponent(password)}`);
        expect([user, password, status >= 400]).toEqual([user, password, true]);
      }
    }
  });
});

test('the limits of a query hold, and others may be set', async () => {
  for (const setting of [
    'readonly = 0',
    'readonly = 1',
    'max_execution_time = 0',
    'max_execution_time = 3600',
    'max_memory_usage = 0',
    'max_threads = 64',
    'max_result_rows = 0',
    'max_concurrent_queries_for_user = 0',
  ]) {
    const { status } = await ask(`SELECT 1 SETTINGS ${setting}`);
    expect([setting, status >= 400]).toEqual([setting, true]);
  }
  expect(await rows('SELECT 1 SETTINGS max_execution_time = 10, join_use_nulls = 1')).toBe('1');
});

test('analysts are listed, and a server that does not confine them is told from one that does', async () => {
  expect(await listAnalysts(service, DATABASE)).toEqual(
    analysts.map(({ user, workspaceId }) => ({ user, workspaceId })),
  );
  // chDB, unlike a server, reads every file by file(), and has no storage for users.
  expect(await canCreateUsers(service)).toBe(false);
  const url = new URL(server.url);
  url.username = analysts[0]?.user ?? '';
  url.password = encodeURIComponent(PASSWORD);
  const client = createClickHouse({ url: url.href, database: OWN_VIEWS });
  try {
    expect(await findLeak(client)).toContain('file()');
    expect(await findLeak(service)).toContain('select_from_system_db_requires_grant');
  } finally {
    await client.close();
  }
});

test('the queries of the guide have rows', async () => {
  const queries = blocksOf(readDocument('docs/analysts.md'), 'sql');
  expect(queries).toHaveLength(10);
  for (const query of queries) expect([query, (await rows(query)) !== '']).toEqual([query, true]);
});

test('the guide names every column of every view', async () => {
  const guide = readDocument('docs/analysts.md');
  const text = await rows('SELECT DISTINCT name FROM system.columns');
  for (const column of text.split('\n'))
    expect([column, guide.includes(`\`${column}\``)]).toEqual([column, true]);
});

// chDB has no users that SQL creates, so it can only parse these.
test('the statements for a server are valid', async () => {
  const [analyst] = analysts;
  if (!analyst) throw new Error('there is no analyst');
  for (const statement of [
    ...rowsUserStatements(DATABASE, own),
    ...viewStatements(DATABASE, own),
    ...analystStatements(DATABASE, analyst),
    ...dropAnalystStatements(analyst.user),
    ...dropWorkspaceStatements(DATABASE, own),
  ]) {
    const parsed = service.query({ query: `EXPLAIN AST ${statement}`, format: 'TabSeparated' });
    const outcome = parsed.then((result) => result.text()).then(() => 'valid', String);
    expect([statement, await outcome]).toEqual([statement, 'valid']);
  }
});
