import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { databaseError } from '../api/plugins/database-errors.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { insertBlock } from '../clickhouse/inserts/insert-block.ts';
import { adviceOn, FAULTS_PAGE } from '../core/databases/advice.ts';
import { CLICKHOUSE_FAULTS } from '../core/databases/clickhouse-faults.ts';
import { databaseFault, type FaultKind } from '../core/databases/faults.ts';
import { createPool, inTransaction } from '../sql/database/pool.ts';
import { type TestApi, testApi } from './support/api.ts';
import { TEST_SERVICE } from './support/database-url.ts';
import { storesTest } from './support/fixtures.ts';
import { operator } from './support/hoplog.ts';
import { onPostgres } from './support/shared-servers.ts';
import { type TestStores, testStores } from './support/stores.ts';

/**
 * Errors that mean "not now", or that a setting is wrong: the table of `core/databases`, and real ones of each kind.
 */

const failing = (code: string, message = 'failed') => Object.assign(new Error(message), { code });

describe('the table', () => {
  const clickhouse = (kind: FaultKind, ...codes: number[]) =>
    codes.map((code) => [String(code), kind, 'ClickHouse'] as const);
  const postgres = (kind: FaultKind, ...codes: string[]) =>
    codes.map((code) => [code, kind, 'PostgreSQL'] as const);
  const node = (kind: FaultKind, ...codes: string[]) => codes.map((code) => [code, kind, null] as const);

  test.each([
    ...clickhouse('credentials', 516, 192, 193, 194, 195),
    ...clickhouse('rights', 497, 164),
    ...clickhouse('missing', 60, 81),
    ...clickhouse('too_large', 159, 241),
    ...clickhouse('unavailable', 201, 203, 225, 243, 252, 279, 285, 286, 289, 319, 341, 439, 173),
    ...clickhouse('unavailable', 202, 209, 210, 236, 242, 394, 745, 999, 1000),
    ...postgres('credentials', '28P01', '28000'),
    ...postgres('rights', '42501'),
    ...postgres('missing', '3D000', '3F000', '42P01'),
    ...postgres(
      'unavailable',
      '25006',
      '26000',
      '42P05',
      '57P01',
      '57014',
      '53300',
      '40P01',
      '08006',
      '08P01',
    ),
    ...postgres('value', '22008', '54001'),
    ...node('unavailable', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'ENOTFOUND'),
    ...node('tls', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'),
    ...node('tls', 'ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  ])('%s is %s', (code, kind, database) => {
    expect(databaseFault(failing(code))).toEqual({ code, kind, database });
  });

  test.each([
    ['Connection terminated unexpectedly', 'unavailable'],
    ['timeout exceeded when trying to connect', 'unavailable'],
    ['socket hang up', 'unavailable'],
    ['The server does not support SSL connections', 'tls'],
    ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'credentials'],
  ])('an error without a code, "%s", is %s', (message, kind) => {
    expect(databaseFault(new Error(message))?.kind).toBe(kind);
  });

  storesTest('each code of ClickHouse has the name that the server gives it', async ({ stores }) => {
    const rows = await stores.clickhouse.queries.rows<{ code: number; name: string }>({
      sql: 'SELECT toUInt16(code) AS code, errorCodeToName(code) AS name FROM (SELECT arrayJoin({codes:Array(UInt16)}) AS code)',
      params: { codes: Object.keys(CLICKHOUSE_FAULTS).map(Number) },
      settings: {},
    });
    const named = Object.fromEntries(rows.map(({ code, name }) => [code, name]));
    expect(named).toEqual(
      Object.fromEntries(Object.entries(CLICKHOUSE_FAULTS).map(([code, [name]]) => [code, name])),
    );
  });

  test('each code but a refused value is 503, and no code an internal error', () => {
    for (const code of [...Object.keys(CLICKHOUSE_FAULTS), '28P01', '3D000', '25006', 'CERT_HAS_EXPIRED']) {
      expect(databaseError(failing(code)), code).toMatchObject({ code: 'unavailable', status: 503 });
    }
  });

  test('each fault of a setting has advice, which names the setting', () => {
    for (const code of ['516', '497', '81', '28P01', '42501', '3D000']) {
      const advice = adviceOn(new Error('failed', { cause: failing(code) }));
      expect(advice?.page).toBe(FAULTS_PAGE);
      for (const setting of advice?.settings ?? ['none']) expect(advice?.message).toContain(setting);
    }
    expect(adviceOn(failing('25006'))).toBeNull();
  });
});

/** A service's API whose log is read. */
async function apiOn(change: Parameters<typeof testApi>[0]): Promise<{ api: TestApi; lines: Line[] }> {
  const lines: Line[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Line) });
  const api = await testApi((deps) => ({ log, ...change?.(deps) }));
  onTestFinished(() => api.close());
  return { api, lines };
}

type Line = { level: number; msg: string; settings?: string[]; page?: string };

describe('PostgreSQL', () => {
  const changed = (stores: TestStores, change: (url: URL) => void) => {
    const url = new URL(stores.databaseUrl);
    change(url);
    return url.href;
  };

  storesTest.for([
    ['a wrong password', (url: URL): string => (url.password = 'wrong'), 'DATABASE_PASSWORD'],
    ['an unknown user', (url: URL): string => (url.username = 'nobody'), 'DATABASE_PASSWORD'],
    ['a database that does not exist', (url: URL): string => (url.pathname = '/gone'), 'DATABASE_URL'],
    [
      'no TLS where the URL requires it',
      (url: URL): string => (url.search = '?sslmode=require'),
      'DATABASE_URL',
    ],
  ] as const)(
    '%s: 503 with Retry-After, and one log line that names the setting',
    async ([_, change, setting], { stores }) => {
      const pool = createPool(changed(stores, change), { connectTimeoutMs: 60_000 });
      onTestFinished(() => pool.end());
      const { api, lines } = await apiOn(() => ({ pool }));
      const shop = await api.addWorkspace();
      for (let call = 0; call < 5; call++) {
        const response = await shop.get('/links?view=records');
        expect([response.status, response.headers['retry-after'], response.body.error.code]).toEqual([
          503,
          '10',
          'unavailable',
        ]);
        expect(response.text).not.toMatch(/report it|nobody|wrong|gone/);
      }
      const faults = lines.filter(({ level }) => level >= 40);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatchObject({ page: FAULTS_PAGE, settings: expect.arrayContaining([setting]) });
    },
  );

  storesTest(
    'a read-only database is 503 for writes; then a transaction gets another connection',
    async ({ stores }) => {
      const pool = createPool(stores.databaseUrl, { max: 1 });
      onTestFinished(() => pool.end());
      await pool.query('SET default_transaction_read_only = on');
      const write = () => inTransaction(pool, (client) => client.query('DELETE FROM folders'));
      const error = await write().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: '25006' });
      expect(databaseError(error)).toMatchObject({ code: 'unavailable', retryAfter: undefined });
      // As after a failover: the address leads to a primary again.
      await write();
    },
  );

  test('a database that is dropped under its connections is 503', async () => {
    const other = await testStores();
    const { api } = await apiOn(() => ({ pool: other.pool }));
    const shop = await api.addWorkspace();
    expect((await shop.get('/links?view=records')).status).toBe(401);
    await onPostgres(`DROP DATABASE ${new URL(other.databaseUrl).pathname.slice(1)} WITH (FORCE)`);
    expect((await shop.get('/links?view=records')).status).toBe(503);
    expect((await shop.get('/links?view=records')).status).toBe(503);
    await other.close();
  });

  storesTest('a prepared statement that the server does not know is 503', async ({ stores }) => {
    const client = new pg.Client(stores.databaseUrl);
    await client.connect();
    const statement = { name: 'known', text: 'SELECT 1' };
    await client.query(statement);
    await client.query('DEALLOCATE ALL');
    const error = await client.query(statement).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: '26000' });
    expect(databaseError(error)?.code).toBe('unavailable');
    await client.end();
  });

  storesTest('a right that is missing is 503', async ({ stores }) => {
    await stores.admin.query(`REVOKE SELECT ON folders FROM ${TEST_SERVICE}`);
    onTestFinished(async () => {
      await stores.admin.query(`GRANT SELECT ON folders TO ${TEST_SERVICE}`);
    });
    const error = await stores.pool.query('SELECT 1 FROM folders').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: '42501' });
    expect(databaseError(error)?.code).toBe('unavailable');
  });

  storesTest('the command line names the setting and the page', async ({ stores }) => {
    const wrong = changed(stores, (url) => (url.password = 'wrong'));
    const { run } = operator({ ...stores, createTables: undefined }, { DATABASE_URL: wrong });
    const ended = await run('workspace', 'list');
    expect(ended.status).toBe(1);
    expect(ended.stderr).toContain('check DATABASE_URL and DATABASE_PASSWORD');
    expect(ended.stderr).toContain(FAULTS_PAGE);
  });
});

describe('ClickHouse', () => {
  /** Responds instead of the server, like a proxy. */
  let answer: (response: ServerResponse) => void;
  const proxy = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(response));
  });
  let url: string;
  let api: TestApi;
  const lines: Line[] = [];
  beforeAll(async () => {
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    url = `http://hoplog:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Line) });
    api = await testApi(() => ({ log, clickhouse: createClickHouse({ url, database: 'hoplog' }) }));
  });
  afterEach(() => lines.splice(0));
  afterAll(async () => {
    await api.close();
    await api.deps.clickhouse.close();
    proxy.close();
  });

  const sends = (status: number, body: string) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
  const BAD_GATEWAY = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

  test.each([
    ['a 502 of a proxy', sends(502, BAD_GATEWAY), '1'],
    ['a 502 without a body', sends(502, ''), '1'],
    ['a 504 of a proxy', sends(504, 'upstream request timeout'), '1'],
    ['an empty 200', sends(200, ''), '10'],
    ['a page', sends(200, '<html>Welcome</html>'), '10'],
    ['a redirect', sends(302, ''), '10'],
    ['a 403 of a proxy', sends(403, 'invalid username or password for user "hoplog"'), '10'],
    ['no response', (response: ServerResponse) => response.destroy(), '1'],
    [
      'half a response',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 1_000, 'x-clickhouse-query-id': 'a' });
        response.write('{"clicks":');
        setTimeout(() => response.destroy(), 20);
      },
      '1',
    ],
  ])('%s in place of a result is 503, for reports and inserts', async (_, given, retryAfter) => {
    answer = given;
    const shop = await api.addWorkspace();
    for (const path of ['/channels', '/clicks']) {
      const response = await shop.get(path);
      expect([response.status, response.headers['retry-after']]).toEqual([503, retryAfter]);
    }
    // Else the rows would count as stored.
    const block = { table: 'clicks', block: [Buffer.from('rows')], token: 'a' } as const;
    const error = await insertBlock(api.deps.clickhouse, block).then(
      () => 'stored',
      (thrown: unknown) => databaseFault(thrown)?.kind,
    );
    expect(['unavailable', 'address', 'credentials']).toContain(error);
    expect(lines.filter(({ msg }) => msg === 'request failed')).toEqual([]);
  });

  test('an error that comes after the status has its code', async () => {
    answer = sends(200, 'Code: 159. DB::Exception: Timeout exceeded: elapsed 20 s. (TIMEOUT_EXCEEDED)');
    const shop = await api.addWorkspace();
    const response = await shop.get('/channels');
    expect([response.status, response.body.error.message]).toEqual([
      503,
      expect.stringContaining('needs more time'),
    ]);
  });

  storesTest('a database that does not exist is 503, and the log names the setting', async ({ stores }) => {
    const clickhouse = createClickHouse({ url: stores.clickhouseUrl, database: 'gone' });
    onTestFinished(() => clickhouse.close());
    const { api: missing, lines: logged } = await apiOn(() => ({ clickhouse }));
    const shop = await missing.addWorkspace();
    const response = await shop.get('/channels');
    expect([response.status, response.headers['retry-after']]).toEqual([503, '10']);
    expect(logged.filter(({ level }) => level >= 50)).toMatchObject([{ settings: ['CLICKHOUSE_DATABASE'] }]);
  });

  storesTest('TLS where the server speaks none is 503, and the log names the setting', async ({ stores }) => {
    const tls = stores.clickhouseUrl.replace('http:', 'https:');
    const clickhouse = createClickHouse({ url: tls, database: stores.clickhouseDatabase });
    onTestFinished(() => clickhouse.close());
    const { api: without, lines: logged } = await apiOn(() => ({ clickhouse }));
    const shop = await without.addWorkspace();
    expect((await shop.get('/channels')).status).toBe(503);
    expect(logged.filter(({ level }) => level >= 50)).toMatchObject([{ settings: ['CLICKHOUSE_URL'] }]);
  });
});
