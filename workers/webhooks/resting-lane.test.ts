import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { takeLane } from '../../sql/event-log/lanes.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { click, heartbeat } from '../test-support/events.ts';
import type { LogWriter } from '../test-support/log-writer.ts';
import { runClickLane, WEBHOOK_CONSUMER } from './click-lane.ts';
import { createWebhookMetrics } from './metrics.ts';
import type { Subscriptions } from './subscriptions.ts';

const NAME = 'ingest-0';
const NOBODY: Subscriptions = {
  byId: new Map(),
  asleep: new Set(),
  subscribers: () => [],
  wantsClicks: false,
  clickSubscribers: () => [],
  clicksByFolder: new Set(),
};

let rig: Rig;
let release: AbortController;
let lane: Promise<void> | null;
let isQuiet: boolean;
/** Whether each waiting read expects no event soon. */
let waits: (boolean | undefined)[];
let asked: number;
/** Turns of the lane's loops in which it checked whether it is quiet. */
let looks: number;
beforeEach(async () => {
  rig = await createRig();
  release = new AbortController();
  [lane, isQuiet, waits, asked, looks] = [null, true, [], 0, 0];
});
afterEach(async () => {
  release.abort();
  await lane;
  await rig.close();
});

/** Runs the lane of a log with one heartbeat, while it is quiet. */
async function rest(subscriptions: Subscriptions): Promise<LogWriter> {
  const stream = await rig.stream(NAME);
  stream.append([heartbeat(Date.now() * 1_000)]);
  const given = { consumer: WEBHOOK_CONSUMER, partition: NAME, holder: 'here', leaseMs: 60_000 };
  const taken = await takeLane(rig.stores.pool, given);
  if (!taken) throw new Error('the lane is taken');
  const { reader } = rig;
  const watched: EventLogReader = {
    partitions: () => reader.partitions(),
    start: (partition) => reader.start(partition),
    end: (partition) => reader.end(partition),
    requestHeartbeats: () => undefined,
    truncate: (...range) => reader.truncate(...range),
    close: async () => undefined,
    read(partition, offset, options) {
      if (options.waitMs > 0) waits.push(options.isQuiet);
      return reader.read(partition, offset, options);
    },
  };
  const sealer = createAddressSealer(rig.addressKey);
  const registry = new Registry();
  const never = new AbortController().signal;
  const lease = { isHeld: () => true, renew: async () => undefined, lapses: () => 0 };
  lane = runClickLane(
    {
      pool: rig.stores.pool,
      reader: watched,
      decode: (batch) => decodeEvents(batch, sealer),
      enricher: createEnricher({ geo: emptyGeo() }),
      quiet: {
        end: () => {
          isQuiet = false;
        },
        isQuiet() {
          looks += 1;
          return isQuiet;
        },
        untilStoreMs: () => 600_000,
      },
      log: silentLogger(),
      metrics: createWebhookMetrics(registry),
      now: Date.now,
      workerMetrics: createWorkerMetrics(registry),
      async subscriptions() {
        asked += 1;
        return subscriptions;
      },
      deliverDirectly: () => Promise.reject(new Error('nobody wants this click')),
    },
    taken,
    { signal: never, drain: never, release: release.signal, lease },
  );
  return stream;
}

it('waits as one that expects nothing soon while it is quiet, and the first click ends that', async () => {
  const stream = await rest({ ...NOBODY, wantsClicks: true });
  await until(
    'waits',
    () => waits.length,
    (count) => count >= 2,
  );
  expect(new Set(waits)).toEqual(new Set([true]));
  const made = { workspace: uuidv7(), link: uuidv7(), visitor: uuidv7(), ts: Date.now() * 1_000 };
  stream.append([click(made)]);
  await until(
    'the end of the quiet',
    () => isQuiet,
    (is) => !is,
  );
  const before = waits.length;
  await until(
    'another wait',
    () => waits.length,
    (count) => count > before,
  );
  expect(waits.at(-1)).toBe(false);
});

it('asks for webhooks every five seconds while it is quiet and nobody wants clicks, and soon after an event', async () => {
  const began = performance.now();
  await rest(NOBODY);
  await until(
    'turns of the loop',
    () => looks,
    (count) => count >= 3,
  );
  expect(asked).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 5_000));
  const before = asked;
  isQuiet = false;
  await until(
    'another question',
    () => asked,
    (count) => count > before,
  );
});
