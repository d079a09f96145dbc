import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, test } from 'vitest';
import { accountFor } from '../faults/accounting.ts';
import { killEverything } from '../faults/processes.ts';
import { type Clicked, clickLinks } from '../support/clicker.ts';
import { makeLink } from '../support/first-click.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type Service, startService } from '../support/service.ts';

const ROUNDS = NIGHTLY ? 3 : 1;

let kafka: TestKafka;
let directory: string;
let service: Service;
let topics = 0;

beforeAll(async () => {
  if (NO_KAFKA === false) kafka = await startKafka(1);
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA === false) await kafka.close();
});

beforeEach((context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  directory = mkdtempSync(join(tmpdir(), 'hoplog-kafka-service-'));
  topics += 1;
});

afterEach(async () => {
  if (NO_KAFKA !== false) return;
  if (service.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The whole service with the broker as its event log, on a topic of this test's own. */
function start(more: NodeJS.ProcessEnv = {}): Promise<Service> {
  const topic = `events-${topics}`;
  const env = { KAFKA_BROKERS: kafka.brokers, KAFKA_REPLICATION: '1', KAFKA_TOPIC: topic, ...more };
  return startService({ dataDir: join(directory, 'data'), env });
}

function load(slug: string, signal: AbortSignal): Promise<Clicked> {
  const urls = [`${service.short_url}/${slug}`];
  return clickLinks({ urls, connections: 8, paceMs: 10, seconds: 120, signal });
}

test(`kill -9 of the whole service, times ${ROUNDS}, loses no click on the way through Kafka and duplicates none`, {
  timeout: 300_000,
}, async () => {
  service = await start();
  const key = service.demo?.secret_key ?? '';
  const link = await makeLink(service, key, 'kafka');
  const answered: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const stop = new AbortController();
    const clicking = load(link.slug, stop.signal);
    await delay(600 + ((round * 237) % 700));
    await killEverything(service);
    stop.abort();
    answered.push(...(await clicking).answered);
    service = await start();
  }
  await accountFor(service, key, answered);
});
