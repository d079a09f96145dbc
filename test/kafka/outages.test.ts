import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbeddedClickHouse } from '../../cli/embedded/clickhouse.ts';
import { startEmbeddedPostgres } from '../../cli/embedded/postgres.ts';
import type { EmbeddedStore } from '../../cli/embedded/store.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { accountFor } from '../faults/accounting.ts';
import { makeLink } from '../support/first-click.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { type Service, startService } from '../support/service.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { visit } from '../support/visitors.ts';
import { underLoad, untilLinksSynced } from './deployment.ts';

/**
 * Outages of one minute of a database, in the nightly run; `test/faults/stores-killed.test.ts` kills both in each run.
 * Each outage has a service and a database of its own. They run at the same time, so both together take one minute. For
 * the outage of all brokers see `cluster.test.ts`.
 */
const OUTAGE_MS = 60_000;
const LOAD = { connections: 4, paceMs: 300 };

let kafka: TestKafka;
let stores: TestStores;
let directory: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-outages-'));
  [kafka, stores] = await Promise.all([startKafka(1), testStores()]);
  await stores.createTables();
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  for (const close of closing.reverse()) await close();
  await Promise.all([kafka?.close(), stores?.close()]);
  if (directory) rmSync(directory, { recursive: true, force: true });
}, 120_000);

beforeEach((context) => context.skip(NO_KAFKA !== false, String(NO_KAFKA)));

/** A database of a test's own, which the test can kill and restart on the same address and data. */
type KillableDatabase = { url: string; kill(): Promise<void>; start(): Promise<void> };

async function killableDatabase(start: (port?: number) => Promise<EmbeddedStore>): Promise<KillableDatabase> {
  let store = await start();
  closing.push(() => store.stop());
  const { url, port } = store;
  return {
    url,
    async kill() {
      process.kill(store.pid, 'SIGKILL');
      await store.exited;
    },
    async start() {
      store = await start(port);
    },
  };
}

type Deployment = { service: Service; key: string; url: string };

async function deploy(name: string, env: NodeJS.ProcessEnv): Promise<Deployment> {
  const dataDir = join(directory, name);
  const service = await startService({
    dataDir,
    env: {
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_REPLICATION: '1',
      KAFKA_TOPIC: name,
      KAFKA_DEAD_TOPIC: `${name}-dead`,
      DATABASE_URL: stores.databaseUrl,
      DATABASE_OWNER_URL: stores.databaseOwnerUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
      ...env,
    },
  });
  closing.push(() => service.stop());
  const key = service.demo?.secret_key ?? '';
  const { slug } = await makeLink(service, key, name);
  await untilLinksSynced(dataDir);
  return { service, key, url: `${service.short_url}/${slug}` };
}

/** Clicks while the database is down for a minute; every click must get a redirect, and be stored once afterwards. */
async function outlives(
  { service, key, url }: Deployment,
  store: KillableDatabase,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const outage = async () => {
    await store.kill();
    const over = delay(OUTAGE_MS);
    await meanwhile();
    await over;
    await store.start();
  };
  const clicked = await underLoad([url], outage, LOAD);
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  expect(clicked.answered.length).toBeGreaterThan(500);
  await accountFor(service, key, clicked.answered);
}

/** Returns the API's response to a reader of clicks. */
async function readClicks({ service, key }: Deployment): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.api_url}/clicks`, { headers })).status;
}

test.concurrent('while ClickHouse is down for a minute, redirects continue and every click is counted once', {
  tags: 'nightly',
  timeout: 400_000,
}, async () => {
  const dataDir = join(directory, 'own-clickhouse');
  const store = await killableDatabase((port) =>
    startEmbeddedClickHouse({ dataDir, log: silentLogger(), ...(port !== undefined && { port }) }),
  );
  const deployment = await deploy('without-clickhouse', { CLICKHOUSE_URL: store.url });
  await outlives(deployment, store, async () => {
    await expect.poll(() => readClicks(deployment)).toBe(503);
  });
});

test.concurrent('while PostgreSQL is down for a minute, known links redirect and every click is counted once', {
  tags: 'nightly',
  timeout: 400_000,
}, async () => {
  const dataDir = join(directory, 'own-postgres');
  const store = await killableDatabase((port) =>
    startEmbeddedPostgres({ dataDir, log: silentLogger(), ...(port !== undefined && { port }) }),
  );
  const deployment = await deploy('without-postgres', {
    DATABASE_URL: store.url,
    DATABASE_OWNER_URL: store.url,
  });
  const { short_url } = deployment.service;
  await outlives(deployment, store, async () => {
    await expect.poll(async () => (await visit(`${short_url}/never-seen`)).status).toBe(503);
    await expect.poll(() => readClicks(deployment)).toBe(503);
  });
});
