import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { openEventLogWriter } from '../core/event-log/open.ts';
import { storedUpTo } from '../core/event-log/port.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import type { Unstamped } from '../core/events/types.ts';
import { uuidv7 } from '../core/ids.ts';
import { readConfig } from '../core/settings/config.ts';
import { silentLogger } from '../core/tier/log.ts';
import { readSecrets } from '../sql/database/secrets.ts';
import { registerStream, watermark } from '../sql/event-log/streams.ts';
import { PROGRAM_ENV, programArguments } from '../test/support/program.ts';
import { createSlowGate } from '../test/support/slow-gate.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { until } from '../test/support/until.ts';
import { click } from './test-support/events.ts';

let stores: TestStores;
let dataDir: string;
beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
  dataDir = mkdtempSync(join(tmpdir(), 'hoplog-workers-'));
});
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await stores.close();
});

function start(settings: NodeJS.ProcessEnv) {
  return spawn(process.execPath, programArguments('workers'), {
    env: { ...PROGRAM_ENV, LOG_LEVEL: 'warn', DATA_DIR: dataDir, METRICS_PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function health(port: number, kind: 'live' | 'ready'): Promise<[number, unknown]> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/${kind}`);
  return [answer.status, await answer.json()];
}

/** Ends a process. On a busy machine it may not close within its limit; it then exits with 1 and logs that. */
async function end(child: ChildProcess): Promise<void> {
  const said: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  if (code !== 0)
    expect([code, said.join('')]).toEqual([1, expect.stringContaining('closing took too long')]);
}

describe('the process of the workers', () => {
  it('names a required setting that is missing, and exits 78', async () => {
    const child = start({});
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const [code] = await once(child, 'close');
    expect(code).toBe(78);
    expect(said.join('')).toMatch(/DATABASE_URL/);
  });

  it('names METRICS_PORT when that port is in use, and exits 78', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = String((server.address() as AddressInfo).port);
    const child = start({
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      METRICS_PORT: port,
    });
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const [code] = await once(child, 'close');
    server.close();
    expect(code).toBe(78);
    expect(said.join('')).toBe(
      `setting METRICS_PORT="${port}": port ${port} on 127.0.0.1 is in use already\n`,
    );
  });

  it('is alive, and not ready, while it waits for PostgreSQL', async () => {
    const metricsPort = await freePort();
    const child = start({
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
      METRICS_PORT: String(metricsPort),
    });
    await once(child.stderr, 'data');
    expect(await health(metricsPort, 'live')).toEqual([200, { status: 'ok' }]);
    await expect
      .poll(() => health(metricsPort, 'ready'))
      .toEqual([503, { status: 'starting', stores: { postgres: 'down', clickhouse: 'up' } }]);
    child.kill('SIGTERM');
    await once(child, 'close');
  });

  it('closes its connections to a PostgreSQL that no longer responds', { timeout: 240_000 }, async () => {
    const gate = await createSlowGate(stores.databaseUrl);
    const child = start({
      DATABASE_URL: gate.url,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
    });
    const connections = async () => {
      const { rows } = await stores.pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
           AND application_name = 'hoplog-workers' AND query <> ''`,
      );
      return rows.map(({ pid }) => pid);
    };
    await once(child.stdout, 'data');
    await until('a connection of the workers', connections, (pids) => pids.length > 0);
    gate.holdAnswers('all');
    const silent = await connections();
    const left = async () => (await connections()).filter((pid) => silent.includes(pid));
    await expect.poll(left, { timeout: 120_000 }).toEqual([]);
    gate.holdAnswers('none');
    await end(child);
    await gate.close();
  });

  it('reports that it is ready, stores what a writer writes meanwhile, and drains on SIGTERM', async () => {
    const { pool, clickhouse } = stores;
    const { address } = await readSecrets(pool);
    const writer = await openEventLogWriter(
      {
        dataDir,
        journalSyncMs: 5,
        journalBudgetBytes: 256 * 2 ** 20,
        kafkaBrokers: [],
        kafka: readConfig({}).kafka,
      },
      {
        streamName: 'ingest-0',
        register: () => registerStream(pool, 'ingest-0'),
        needs: async () => storedUpTo(-1n),
        giveUp: async () => {},
        sealer: createAddressSealer(address),
        log: silentLogger(),
        registry: new Registry(),
      },
    );
    const metricsPort = await freePort();
    const settings = {
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
    };
    const child = start({ ...settings, METRICS_PORT: String(metricsPort) });
    child.stderr.pipe(process.stderr);
    const [line] = await once(child.stdout, 'data');
    expect(JSON.parse(String(line))).toEqual({ event: 'ready' });
    expect(await health(metricsPort, 'live')).toEqual([200, { status: 'ok' }]);
    await expect
      .poll(() => health(metricsPort, 'ready'))
      .toEqual([200, { status: 'ready', stores: { postgres: 'up', clickhouse: 'up' } }]);

    const workspace = uuidv7();
    let written = 0;
    const append = () => {
      const { ts: _, ...event } = click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: 0 });
      writer.append(event as Unstamped, (outcome) => {
        if (outcome === 'written') written += 1;
      });
    };
    for (let turn = 0; turn < 200; turn++) {
      for (let i = 0; i < 20; i++) append();
      await sleep(2);
    }
    const last = Date.now() * 1000;
    await expect.poll(async () => (await watermark(pool)) ?? 0).toBeGreaterThanOrEqual(last);
    const places = await clickhouse.query({
      query: 'SELECT count() AS stored, uniqExact(sequence) AS distinct, any(country) AS country FROM clicks',
      format: 'JSONEachRow',
    });
    expect(await places.json()).toEqual([{ stored: '4000', distinct: '4000', country: 'US' }]);

    for (let i = 0; i < 500; i++) append();
    await writer.close();
    await end(child);
    // The process drains for two seconds. On a busy machine another process stores the rest.
    const other = start(settings);
    await once(other.stdout, 'data');
    const after = async () => {
      const rows = await clickhouse.query({
        query: 'SELECT count() AS stored, uniqExact(sequence) AS distinct FROM clicks',
        format: 'JSONEachRow',
      });
      return rows.json();
    };
    await expect.poll(after).toEqual([{ stored: String(written), distinct: String(written) }]);
    await end(other);
  });
});
