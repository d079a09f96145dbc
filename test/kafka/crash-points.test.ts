import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../core/config.ts';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { KafkaReader } from '../../core/event-log/kafka/reader.ts';
import { type Shipper, startShipper } from '../../core/event-log/kafka/shipper.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/log.ts';
import type { LaneState } from '../../workers/lane/lane.ts';
import { click } from '../../workers/test-support/events.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { createRig, metric, type Rig } from '../support/worker-rig.ts';

const STATES: LaneState[] = ['prepared', 'intended', 'block_inserted', 'inserted', 'advanced'];
const NOW = Date.UTC(2026, 10, 1) * 1000;

let kafka: TestKafka;
let rig: Rig;
let topics = 0;

beforeAll(async () => {
  if (NO_KAFKA === false) kafka = await startKafka(1);
}, 240_000);
afterAll(async () => {
  if (NO_KAFKA === false) await kafka.close();
});
beforeEach(async (context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  topics += 1;
  rig = await createRig();
});
afterEach(async () => {
  if (NO_KAFKA === false) await rig.close();
});

/** From the journal to the store through the broker, on a topic of the test's own. */
async function withKafka(
  work: (given: {
    reader: KafkaReader;
    ship: () => Shipper;
    stream: Awaited<ReturnType<Rig['stream']>>;
  }) => Promise<void>,
): Promise<void> {
  const settings = { ...readConfig({}).kafka, topic: `crash-${topics}`, partitions: 1, replication: 1 };
  const client = () =>
    createKafka({ brokers: kafka.brokers.split(','), kafka: settings }, 'test', silentLogger());
  const reader = new KafkaReader(client(), settings, silentLogger());
  const stream = await rig.stream('ingest-0');
  const shippers: Shipper[] = [];
  const ship = () => {
    const shipper = startShipper({
      client: client(),
      kafka: settings,
      dataDir: rig.dataDir,
      streamName: 'ingest-0',
      stream,
      log: silentLogger(),
      onShipped: () => {},
      onOutage: () => {},
    });
    shippers.push(shipper);
    return shipper;
  };
  try {
    await work({ reader, ship, stream });
  } finally {
    await Promise.all(shippers.map((shipper) => shipper.stop(1_000)));
    await reader.close();
  }
}

function clicks(from: number, count: number) {
  const { workspace } = rig;
  return Array.from({ length: count }, (_, index) =>
    click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + from + index }),
  );
}

test.each(STATES)(
  'a lane that fails when %s reads the same range from Kafka again and stores it once',
  async (state) => {
    await withKafka(async ({ reader, ship, stream }) => {
      ship();
      let failures = 0;
      const workers = rig.work({
        reader,
        onState(reached) {
          if (reached !== state || failures >= 3) return;
          failures += 1;
          throw new Error(`failure injected when ${state}`);
        },
      });
      for (let at = 0; at < 2_000; at += 100) {
        stream.append(clicks(at, 100));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await rig.settled(stream);
      expect(failures).toBeGreaterThan(0);
      expect(await rig.stored()).toEqual({ rows: 2_000, distinct: 2_000 });
      for (const alarm of ['hoplog_worker_log_lost_total', 'hoplog_worker_sequence_gaps_total']) {
        expect(await metric(workers.registry, alarm)).toBe(0);
      }
      await workers.stop(0);
    });
  },
);

test('what a shipper sends twice because it died before it had kept its place is stored once', async () => {
  await withKafka(async ({ reader, ship, stream }) => {
    const workers = rig.work({ reader });
    stream.append(clicks(0, 500));
    const first = ship();
    await rig.settled(stream);
    // As one that was killed: it never said how far it had come.
    await first.stop(1_000);
    rmSync(join(rig.dataDir, 'journal', 'ingest-0', 'shipped.json'));
    stream.append(clicks(1_000, 500));
    ship();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 1_000, distinct: 1_000 });
    expect(await metric(workers.registry, 'hoplog_worker_duplicates_dropped_total')).toBe(500);
    await workers.stop(0);
  });
});
