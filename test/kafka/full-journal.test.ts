import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { accountFor, untilVisible } from '../faults/accounting.ts';
import type { Clicked } from '../support/clicker.ts';
import { exposedFigure } from '../support/exposed-figure.ts';
import { makeLink } from '../support/first-click.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { type Service, startService } from '../support/service.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { visit } from '../support/visitors.ts';
import { type Load, tierProcess, underLoad } from './deployment.ts';

/**
 * A journal of 1 MiB that fills while no broker responds: from then on clicks are lost, and each lost click is counted.
 */
const PATIENT = { timeout: 60_000, interval: 100 };
const PADDING = randomBytes(400).toString('hex');
/** Large clicks fill the journal soon. */
const LOAD: Load = { paceMs: 20, headers: (index) => ({ 'user-agent': `Mozilla/5.0 ${index} ${PADDING}` }) };

let kafka: TestKafka;
let stores: TestStores;
let directory: string;
let dataDir: string;
let service: Service;
let metricsPort: number;
let key: string;
/** Totals over all tests so far. */
let answered = 0;
let lostBefore = 0;

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-journal-'));
  dataDir = join(directory, 'data');
  [kafka, stores] = await Promise.all([startKafka(1), testStores()]);
  await stores.createTables();
  metricsPort = await freePort('127.0.0.1', 4);
  service = await startService({
    dataDir,
    env: {
      DATABASE_URL: stores.databaseUrl,
      DATABASE_OWNER_URL: stores.databaseOwnerUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_REPLICATION: '1',
      JOURNAL_BUDGET: '1MiB',
      METRICS_PORT: String(metricsPort),
    },
  });
  key = service.demo?.secret_key ?? '';
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  if (service?.process.exitCode === null) await service.stop();
  await Promise.all([kafka?.close(), stores?.close()]);
  if (directory) rmSync(directory, { recursive: true, force: true });
}, 60_000);

beforeEach((context) => context.skip(NO_KAFKA !== false, String(NO_KAFKA)));

/** Returns how many clicks the running ingest process reports as lost. */
function lost(): Promise<number> {
  return exposedFigure(metricsPort + 1, 'hoplog_journal_lost_total', /cause="budget"/);
}

async function newLink(name: string): Promise<string> {
  const { slug } = await makeLink(service, key, name);
  return `${service.short_url}/${slug}`;
}

function allRedirected(clicked: Clicked): void {
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  answered += clicked.answered.length;
}

/** The redirected clicks that are not stored are exactly the clicks reported as lost; none is stored twice. */
async function expectLossEqualsReported(lostOnes: number): Promise<void> {
  await untilVisible(service, key, Date.now());
  const stored = await accountFor(service, key, []);
  expect(answered - stored).toBe(lostBefore + lostOnes);
  lostBefore += lostOnes;
}

test('when the journal fills during an outage, redirects continue and the reported loss is the actual loss', {
  timeout: 300_000,
}, async () => {
  const outage = async () => {
    await kafka.nodes[0]?.kill();
    await expect.poll(lost, PATIENT).toBeGreaterThan(50);
    await kafka.nodes[0]?.start();
    await expect.poll(() => exposedFigure(metricsPort + 1, 'hoplog_shipper_outage'), PATIENT).toBe(0);
  };
  const clicked = await underLoad([await newLink('budget')], outage, LOAD);
  allRedirected(clicked);
  await expectLossEqualsReported(await lost());
});

test('ingest that is killed with a full journal redirects after its restart, and ships all that the journal held', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  const url = await newLink('full and killed');
  const lostByThen = await lost();
  await kafka.nodes[0]?.kill();
  const untilLost = (count: number) => () => expect.poll(lost, PATIENT).toBeGreaterThan(count);
  allRedirected(await underLoad([url], untilLost(lostByThen + 50), LOAD));
  const lostByFirst = (await lost()) - lostByThen;
  process.kill(tierProcess(dataDir, 'ingest'), 'SIGKILL');
  await expect.poll(async () => (await visit(url).catch(() => null))?.status, PATIENT).toBe(302);
  answered += 1;
  allRedirected(await underLoad([url], untilLost(20), LOAD));
  const lostBySecond = await lost();
  await kafka.nodes[0]?.start();
  await expectLossEqualsReported(lostByFirst + lostBySecond);
});
