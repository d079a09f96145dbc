import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { addDeadLetters } from '../../sql/event-log/dead-letters.ts';
import { recordHeartbeat } from '../../sql/event-log/live-workers.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { TEST_OWNER } from '../support/database-url.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { EACH_SECOND, hoplog, operator } from '../support/hoplog.ts';
import { until } from '../support/until.ts';

let cli: ReturnType<typeof operator>;

test.beforeAll(async ({ api }) => {
  await api.stores.createTables();
  cli = operator(api.stores);
});

describe('migrate and status', () => {
  let address: string;
  test.beforeAll(async ({ api }) => {
    address = await api.app.listen({ port: 0, host: '127.0.0.1' });
  });

  test('migrate reports what it applied, and that nothing is left the second time', async ({ api }) => {
    const name = `${api.stores.clickhouseDatabase}_fresh`;
    const env = {
      ...cli.env,
      DATABASE_URL: cli.env.DATABASE_URL.replace(/[^/]+$/, name),
      DATABASE_OWNER_URL: cli.env.DATABASE_OWNER_URL.replace(/[^/]+$/, name),
      CLICKHOUSE_DATABASE: name,
    };
    await api.stores.admin.query(`CREATE DATABASE ${name} OWNER ${TEST_OWNER}`);
    try {
      const first = await hoplog(['migrate', '--json'], env);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      const { applied } = JSON.parse(first.stdout);
      expect(applied.postgres[0]).toBe('0001_workspaces.sql');
      expect(applied.clickhouse[0]).toBe('0001_events.sql');
      const second = await hoplog(['migrate', '--json'], env);
      expect(JSON.parse(second.stdout)).toEqual({ applied: { postgres: [], clickhouse: [] } });
      expect((await hoplog(['migrate'], env)).stdout).toMatch(/postgres +up to date/);
    } finally {
      await api.stores.clickhouse.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` });
      await api.stores.admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  test('migrate --wait retries while PostgreSQL is unreachable, up to its limit', async () => {
    const url = new URL(cli.env.DATABASE_OWNER_URL);
    const store = { host: url.hostname, port: Number(url.port) };
    url.host = `127.0.0.1:${await freePort()}`;
    const env = { ...cli.env, DATABASE_OWNER_URL: url.href };
    const refused = await hoplog(['migrate', '--wait', '1'], env);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/hoplog: .*ECONNREFUSED/);

    // Rejects the first connection, then forwards.
    let connections = 0;
    const gate = createServer((socket) => {
      connections += 1;
      if (connections === 1) socket.destroy();
      else
        socket
          .pipe(connect(store))
          .pipe(socket)
          .on('error', () => {});
    });
    gate.listen(Number(url.port), '127.0.0.1');
    await once(gate, 'listening');
    try {
      const migrated = await hoplog(['migrate', '--wait', '120'], env);
      expect(migrated).toMatchObject({ status: 0, stdout: expect.stringMatching(/postgres +up to date/) });
      expect(migrated.stderr).toContain('a database is not ready yet; will retry');
    } finally {
      gate.close();
    }
  });

  test('status names every component, and exits with 1 while one is down', async ({ api }) => {
    const env = { ...cli.env, BASE_URL: address, SHORT_URL: address };
    const worker = (holder: string, liveMs: number) =>
      recordHeartbeat(api.stores.pool, { consumers: ['store', 'webhooks'], holder, liveMs });
    const { streamId } = await registerStream(api.stores.pool, 'ingest-0');
    const payload = Buffer.from([1, 0, 0, 0, 99]);
    const letter = {
      partition: 'ingest-0',
      logOffset: 5n,
      sequence: 7n,
      reason: 'unknown_kind: 99',
      payload,
    };
    await addDeadLetters(api.stores.pool, [{ ...letter, streamId }]);
    await Promise.all([worker('a/1', 600_000), worker('b/1', 600_000), worker('c/1', 0)]);
    // Each component has three seconds to respond, which a loaded machine may need longer for.
    const up = await until(
      'a status without a component that is down',
      () => hoplog(['status', '--json'], env),
      (ended) => ended.status === 0,
      { intervalMs: EACH_SECOND.interval },
    );
    const status = JSON.parse(up.stdout);
    expect(Object.keys(status)).toEqual(['parts', 'progress']);
    // The disk is listed where DATA_DIR exists.
    expect(Object.keys(status.parts).filter((name) => name !== 'disk')).toEqual([
      'redirects',
      'api',
      'workers',
      'postgres',
      'clickhouse',
      'clock',
    ]);
    expect(status.parts).toMatchObject({
      api: { ok: true },
      workers: { ok: true, detail: '2 alive' },
      postgres: { ok: true },
      clickhouse: { ok: true },
    });
    expect(status.progress).toMatchObject({
      streams: [{ name: 'ingest-0', ordinal: expect.any(Number) }],
      dead_letters: 1,
    });
    const unreachable = { SHORT_URL: 'http://127.0.0.1:9', KAFKA_BROKERS: '127.0.0.1:9,127.0.0.1:10' };
    const down = await until(
      'a status with the API up',
      () => hoplog(['status'], { ...env, ...unreachable }),
      ({ stdout }) => /api +up/.test(stdout),
      { intervalMs: EACH_SECOND.interval },
    );
    expect([down.status, down.stderr]).toEqual([1, '']);
    expect(down.stdout).toMatch(/redirects +DOWN +connect ECONNREFUSED 127\.0\.0\.1:9/);
    expect(down.stdout).toMatch(/kafka +DOWN +.*ECONNREFUSED/);
  });

  test('status does not count a worker that stopped reporting', async ({ api }) => {
    const workers = async () => {
      const ended = await hoplog(['status', '--json'], { ...cli.env, BASE_URL: address, SHORT_URL: address });
      return [ended.status, JSON.parse(ended.stdout).parts.workers];
    };
    await api.stores.pool.query('DELETE FROM live_workers');
    await expect.poll(workers, EACH_SECOND).toEqual([1, { ok: false, detail: 'no worker is alive' }]);
    await recordHeartbeat(api.stores.pool, { consumers: ['store'], holder: 'a/1', liveMs: 0 });
    await expect.poll(workers, EACH_SECOND).toEqual([
      1,
      {
        ok: false,
        detail: expect.stringMatching(/^no worker is alive; the last heartbeat expired at \d{4}-/),
      },
    ]);
  });
});
