import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { type Lane, takeLane } from '../../sql/event-log/lanes.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { heartbeat } from '../test-support/events.ts';
import { runClickLane, WEBHOOK_CONSUMER } from '../webhooks/click-lane.ts';
import { createWebhookMetrics } from '../webhooks/metrics.ts';
import { createSubscriptions } from '../webhooks/subscriptions.ts';
import { STORE_CONSUMER } from '../workers.ts';
import { createIdleLanes } from './idle-lanes.ts';
import { type LaneControl, runLane } from './lane.ts';

const NAME = 'ingest-0';

let rig: Rig;
let registry: Registry;
let release: AbortController;
/** What the log's end waits for; null: nothing. */
let gate: PromiseWithResolvers<void> | null;
let waiting: number;
/** Reads of the log that have not ended. */
let reading: number;
beforeEach(async () => {
  rig = await createRig();
  registry = new Registry();
  release = new AbortController();
  gate = null;
  waiting = 0;
  reading = 0;
});
afterEach(() => rig.close());

/** Runs a lane on a log whose end is returned only once the gate opens. */
async function run(consumer: string, work: (lane: Lane, control: LaneControl) => Promise<void>) {
  (await rig.stream(NAME)).append([heartbeat(Date.now() * 1_000)]);
  const taken = { consumer, partition: NAME, holder: 'here', leaseMs: 60_000 };
  const lane = await takeLane(rig.stores.pool, taken);
  if (!lane) throw new Error(`the lane of ${consumer} is taken`);
  const never = new AbortController().signal;
  const lease = { isHeld: () => true, renew: async () => undefined, lapses: () => 0 };
  return work(lane, { signal: never, drain: never, release: release.signal, lease });
}

function dependencies() {
  const { reader } = rig;
  const sealer = createAddressSealer(rig.addressKey);
  const gated: EventLogReader = {
    partitions: () => reader.partitions(),
    async read(...given) {
      reading += 1;
      return reader.read(...given).finally(() => {
        reading -= 1;
      });
    },
    start: (partition) => reader.start(partition),
    requestHeartbeats: () => undefined,
    truncate: (...given) => reader.truncate(...given),
    close: async () => undefined,
    async end(partition) {
      waiting += 1;
      await gate?.promise;
      return reader.end(partition);
    },
  };
  return {
    pool: rig.stores.pool,
    clickhouse: rig.stores.clickhouse,
    replicas: [{ name: 'main', clickhouse: rig.stores.clickhouse }],
    reader: gated,
    decode: (batch: Parameters<typeof decodeEvents>[0]) => decodeEvents(batch, sealer),
    enricher: createEnricher({ geo: emptyGeo() }),
    log: silentLogger(),
  };
}

async function partitionsOf(gauge: string): Promise<unknown[]> {
  const values = (await registry.getSingleMetric(gauge)?.get())?.values ?? [];
  return values.map(({ labels }) => labels.partition);
}

/** Releases the lane while it reads the end of the log, and waits until the lane has ended. */
async function giveAway(lane: Promise<void>, gauge: string): Promise<void> {
  await vi.waitFor(async () => expect(await partitionsOf(gauge)).toEqual([NAME]), { timeout: 30_000 });
  gate = Promise.withResolvers();
  const asked = waiting;
  await vi.waitFor(() => expect(waiting).toBeGreaterThan(asked), { timeout: 30_000 });
  release.abort();
  // The lane reads no more: only the measurement of its lag still runs.
  await vi.waitFor(() => expect(reading).toBe(0), { timeout: 30_000 });
  gate.resolve();
  await lane;
}

it('a lane of the store that is given away leaves no lag behind', async () => {
  const metrics = createWorkerMetrics(registry);
  const shared = { ...dependencies(), metrics, pace: { lingerMs: () => 0 } };
  const lane = run(STORE_CONSUMER, (taken, control) => runLane(shared, taken, control));
  await giveAway(lane, 'hoplog_worker_lag_offsets');
  expect(await partitionsOf('hoplog_worker_lag_offsets')).toEqual([]);
  expect(await partitionsOf('hoplog_worker_lag_seconds')).toEqual([]);
});

it('a lane of the webhooks that is given away leaves no lag behind', async () => {
  const shared = {
    ...dependencies(),
    quiet: createIdleLanes(),
    metrics: createWebhookMetrics(registry),
    workerMetrics: createWorkerMetrics(registry),
    subscriptions: createSubscriptions(rig.stores.pool),
    deliverDirectly: () => Promise.reject(new Error('no webhook wants clicks')),
    now: Date.now,
  };
  const lane = run(WEBHOOK_CONSUMER, (taken, control) => runClickLane(shared, taken, control));
  await giveAway(lane, 'hoplog_webhook_lag_offsets');
  expect(await partitionsOf('hoplog_webhook_lag_offsets')).toEqual([]);
});
