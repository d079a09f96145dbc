import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { runQuery } from '../../clickhouse/queries/run-query.ts';
import { createPool } from '../../sql/database/pool.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { apiReadiness } from '../health/routes.ts';
import { databaseError } from './database-errors.ts';

const UNUSED_PORT = '127.0.0.1:1';

describe('PostgreSQL down', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await testApi(() => ({ pool: createPool(`postgres://u:p@${UNUSED_PORT}/none`) }));
  });
  afterAll(() => api.close());

  test('an endpoint responds 503 with Retry-After', async () => {
    const shop = await api.addWorkspace();
    const answer = await shop.get('/me');
    expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable']);
    expect(answer.headers['retry-after']).toBe('1');
  });

  test('the process is alive, not ready, and names the database that is down', async () => {
    expect((await api.app.inject('/health/live')).statusCode).toBe(200);
    const ready = await api.app.inject('/health/ready');
    expect(ready.statusCode).toBe(503);
    expect(ready.json()).toEqual({ status: 'unready' });
    const pool = createPool(`postgres://u:p@${UNUSED_PORT}/none`);
    const eventLog = { ready: () => true, loss: () => null };
    // On a busy machine a check may exceed its time limit.
    const stores = async () =>
      (await apiReadiness({ pool, readers: api.deps.readers, eventLog }, false)).body.stores;
    await expect.poll(stores).toEqual({ postgres: 'down', clickhouse: 'up' });
  });

  test('responses that need no database still work: 404, 405, the document, a call without a key', async () => {
    const shop = await api.addWorkspace();
    expect((await shop.get('/nothing')).status).toBe(404);
    expect((await shop.call('PUT', '/me')).status).toBe(405);
    expect((await shop.get('/openapi.json')).status).toBe(200);
    expect((await shop.get('/me', { key: null })).status).toBe(401);
  });
});

describe('ClickHouse down', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await testApi(() => ({
      clickhouse: createClickHouse({ url: `http://${UNUSED_PORT}`, database: 'none' }),
    }));
  });
  afterAll(() => api.close());

  test('endpoints that read it respond 503, the others work', async () => {
    const shop = await api.addWorkspace();
    const answer = await shop.get('/me');
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect((await shop.get('/links?view=records')).status).toBe(200);
    expect((await shop.post('/folders', { name: 'F' })).status).toBe(201);
  });
});

test('both up: ready', async () => {
  const api = await testApi();
  const ready = async () => (await api.app.inject('/health/ready')).json();
  await expect.poll(ready).toEqual({ status: 'ready' });
  // Anyone may call it, so many calls must take no more connections than one.
  const gate = Promise.withResolvers<void>();
  const asked = vi.spyOn(api.deps.pool, 'query').mockImplementation(() => gate.promise as never);
  const calls = [ready(), ready(), ready()];
  const checks = () => asked.mock.calls.filter(([text]) => String(text) === 'SELECT 1').length;
  await expect.poll(checks).toBeGreaterThan(0);
  // Gets its response after the others have started.
  await api.app.inject('/health/live');
  expect(checks()).toBe(1);
  gate.resolve();
  await Promise.all(calls);
  asked.mockRestore();
  await expect.poll(ready).toEqual({ status: 'ready' });
  await api.close();
});

test.each([
  [
    'more memory',
    'SELECT groupArray(number) FROM numbers(10000000)',
    { seconds: 60, settings: { max_memory_usage: '20000000' } },
    'ClickHouse has too little memory for this request; try again, or choose a shorter window',
  ],
  [
    'more time',
    'SELECT sum(sleepEachRow(0.1)) FROM numbers(100)',
    { seconds: 1, settings: { max_block_size: '1' } },
    'the request needs more time than ClickHouse may take; try again, or choose a shorter window',
  ],
])(
  'a query that needs %s than ClickHouse may take responds 503, and says so',
  async (_, sql, limits, message) => {
    const api = await testApi();
    const query = runQuery(api.stores.clickhouse, { sql, params: {}, ...limits });
    const error = await query.catch((thrown: unknown) => thrown);
    expect(databaseError(error)).toMatchObject({ code: 'unavailable', message });
    await api.close();
  },
);

describe('databaseError', () => {
  const failing = (message: string, code?: string) => Object.assign(new Error(message), { code });

  test.each([
    [failing('terminating connection', '57P01')],
    [failing('canceling statement due to statement timeout', '57014')],
    [failing('too many clients', '53300')],
    [failing('deadlock detected', '40P01')],
    [failing('connect', 'ECONNREFUSED')],
    [failing('timeout exceeded when trying to connect')],
    [failing('Connection terminated unexpectedly')],
    [new AggregateError([failing('connect', 'ECONNREFUSED')])],
  ])('%s is 503', (error) => {
    expect(databaseError(error)?.code).toBe('unavailable');
  });

  test('a value that PostgreSQL refuses is 400', () => {
    expect(databaseError(failing('date out of range', '22008'))?.code).toBe('bad_request');
  });

  test('anything else is a fault of ours', () => {
    expect(databaseError(failing('syntax error', '42601'))).toBeNull();
    expect(databaseError(new TypeError('x is undefined'))).toBeNull();
    expect(databaseError('text')).toBeNull();
  });
});
