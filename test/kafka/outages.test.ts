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
import { pollClicks, tierProcess, underLoad, untilLinksSynced } from './deployment.ts';

/**
 * Outages of one minute of a database, or of all brokers of a cluster. Each outage has a service and parts of its own.
 * They run at the same time, so all of them together take one minute.
 */
const OUTAGE_MS = 60_000;
const LOAD = { connections: 4, paceMs: 150 };

/** For the services whose databases are killed. */
let kafka: TestKafka;
let stores: TestStores;
/** The three brokers that are killed: three replicas of each record, two must hold it. The databases of that service stay up. */
let cluster: TestKafka;
let storesOfCluster: TestStores;
let directory: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-outages-'));
  [kafka, cluster, stores, storesOfCluster] = await Promise.all([
    startKafka(1),
    startKafka(3),
    testStores(),
    testStores(),
  ]);
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  for (const close of closing.reverse()) await close();
  await Promise.all([kafka, cluster, stores, storesOfCluster].map((one) => one?.close()));
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

type Deployment = { service: Service; dataDir: string; key: string; link: string; url: string };

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
  const { id, slug } = await makeLink(service, key, name);
  await untilLinksSynced(dataDir);
  return { service, dataDir, key, link: id, url: `${service.short_url}/${slug}` };
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

test.concurrent('all brokers are down for a minute and ingest is killed: every click is counted once, and a poller misses none', {
  timeout: 400_000,
}, async () => {
  const { service, dataDir, key, link, url } = await deploy('without-brokers', {
    KAFKA_BROKERS: cluster.brokers,
    KAFKA_REPLICATION: '3',
    KAFKA_PARTITIONS: '4',
    DATABASE_URL: storesOfCluster.databaseUrl,
    DATABASE_OWNER_URL: storesOfCluster.databaseOwnerUrl,
    CLICKHOUSE_URL: storesOfCluster.clickhouseUrl,
    CLICKHOUSE_DATABASE: storesOfCluster.clickhouseDatabase,
  });
  let complete: string[] | null = null;
  const polling = pollClicks(
    service,
    key,
    link,
    (seen) => complete?.every((visitor) => seen.has(visitor)) ?? false,
  );
  const outage = async () => {
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await delay(OUTAGE_MS / 2);
    process.kill(tierProcess(dataDir, 'ingest'), 'SIGKILL'); // its journal holds what is not shipped
    await delay(OUTAGE_MS / 2);
    await Promise.all(cluster.nodes.map((node) => node.start()));
  };
  const clicked = await underLoad([url], outage, LOAD);
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.answered.length).toBeGreaterThan(500);
  await accountFor(service, key, clicked.answered);
  complete = clicked.answered;
  expect((await polling).size).toBeGreaterThanOrEqual(complete.length);
});
