import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untilLinksSynced } from '../kafka/deployment.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { follow, makeLink } from '../support/first-click.ts';
import { hoplog } from '../support/hoplog.ts';
import { HAS_PGBOUNCER, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { type Service, startService } from '../support/service.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { accountFor } from './accounting.ts';

describe.skipIf(!HAS_PGBOUNCER)('a service behind PgBouncer in transaction mode', () => {
  let directory: string;
  let stores: TestStores;
  let pooler: PgBouncer;
  let service: Service;
  let env: Record<string, string>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hoplog-pgbouncer-'));
    stores = await testStores();
    // One backend for all connections: a transaction that waits for a second connection would wait for itself.
    pooler = await startPgBouncer({ urls: [stores.databaseUrl], settings: { default_pool_size: 1 } });
    env = {
      DATABASE_URL: pooler.through(stores.databaseUrl),
      DATABASE_DIRECT_URL: stores.databaseUrl,
      DATABASE_OWNER_URL: stores.databaseOwnerUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
    };
    await stores.createTables();
    service = await startService({ dataDir: join(directory, 'data'), env });
  });
  afterAll(async () => {
    await service?.stop();
    await pooler?.stop();
    await stores?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const key = () => service.demo?.secret_key ?? '';
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.api_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key()}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: await response.json(),
    };
  };

  test('orders are attributed and credited on one backend, and ingest listens past the pooler', async () => {
    const link = await makeLink(service, key(), 'pooled');
    const { location } = await follow(link);
    const visitor = new URL(location).searchParams.get('_vid');
    const order = {
      visitor_id: visitor,
      order_id: 'o-1',
      amount: 1_000,
      currency: 'usd',
      email: 'a@b.example',
    };
    expect((await call('POST', '/track/order', order)).status).toBe(202);
    const conversions = async () =>
      (await call('POST', '/analytics/query', { metrics: ['conversions'] })).body;
    await expect.poll(conversions).toMatchObject({ totals: { conversions: 1 } });
    const { rows } = await stores.admin.query<{ name: string }>(
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE 'LISTEN %'`,
    );
    expect(rows).toEqual([{ name: 'hoplog-ingest-links' }]);
  });

  test('hoplog migrate does nothing twice, and is refused without an address past the pooler', async () => {
    const done = await hoplog(['migrate', '--json'], env);
    expect(JSON.parse(done.stdout).applied).toEqual({ postgres: [], clickhouse: [] });
    const owner = await startPgBouncer({ urls: [stores.databaseOwnerUrl] });
    const refused = await hoplog(['migrate'], {
      ...env,
      DATABASE_OWNER_URL: owner.through(stores.databaseOwnerUrl),
    });
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('pooler in transaction mode'),
    });
    await owner.stop();
  });

  test('PgBouncer killed under load: known links redirect, the API is 503, and every click is counted once', async () => {
    const link = await makeLink(service, key(), 'killed');
    const urls = [`${service.short_url}/${link.slug}`];
    const first = await firstVisits(urls);
    await untilLinksSynced(join(directory, 'data'));
    const stop = new AbortController();
    const load = clickLinks({ urls, connections: 8, paceMs: 20, seconds: 60, signal: stop.signal });
    for (let round = 0; round < 3; round += 1) {
      await delay(500);
      await pooler.kill();
      await expect
        .poll(() => call('GET', '/links'))
        .toMatchObject({ status: 503, retryAfter: expect.any(String) });
      await pooler.start();
      await expect.poll(async () => (await call('GET', '/links')).status).toBe(200);
    }
    stop.abort();
    const clicked = await load;
    expect(clicked.refused).toEqual(new Map());
    expect(clicked.unanswered).toEqual([]);
    await accountFor(service, key(), [...first, ...clicked.answered]);
  });
});
