import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { linkSignals } from '../../core/tier/linked-signal.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { type Lanes, startLanes } from './lanes.ts';
import { keepLeases, type Lease, type Leases } from './leases.ts';

const named = (count: number) => Array.from({ length: count }, (_, at) => `p/${at}`);

let stores: TestStores;
let leases: Leases;
let partitions: string[];
let working: Map<string, { lanes: Lanes; held: Map<string, Lease> }>;
/** Lanes that were taken from a worker whose lease had not expired. */
let stolen: string[];

beforeEach(async () => {
  stores = await testStores();
  leases = keepLeases(stores.pool);
  working = new Map();
  stolen = [];
});
afterEach(async () => {
  await Promise.all([...working.values()].map(({ lanes }) => lanes.stop(0)));
  await leases.stop();
  await stores.close();
});

/** A worker on a machine of its own, whose lanes end when they are told to. */
function work(name: string): void {
  const held = new Map<string, Lease>();
  const lanes = startLanes({
    pool: stores.pool,
    leases,
    reader: { partitions: async () => partitions } as unknown as EventLogReader,
    metrics: createWorkerMetrics(new Registry()),
    log: silentLogger(),
    consumer: 'store',
    holder: `${name}.example/1`,
    async run({ partition }, { signal, drain, release, lease }) {
      for (const other of working.values()) if (other.held.get(partition)?.isHeld()) stolen.push(partition);
      await lease.renew();
      held.set(partition, lease);
      const end = linkSignals(signal, drain, release);
      await sleep(600_000, undefined, { signal: end.signal }).catch(() => undefined);
      end.release();
      held.delete(partition);
    },
  });
  working.set(name, { lanes, held });
}

/** Waits until each worker holds this many lanes, and each lane is held once. */
async function untilShared(...counts: number[]): Promise<void> {
  await vi.waitFor(
    () => {
      expect(stolen).toEqual([]);
      const held = [...working.values()].map((worker) => [...worker.held.keys()]);
      expect(held.map((lanes) => lanes.length).sort()).toEqual(counts.sort());
      expect(held.flat().sort()).toEqual(partitions);
    },
    { timeout: 40_000, interval: 50 },
  );
}

it('shares the lanes among the workers that live, as they come and go', async () => {
  partitions = named(5);
  work('first');
  await untilShared(5);
  work('second');
  await untilShared(2, 3);
  work('third');
  await untilShared(1, 2, 2);
  await working.get('first')?.lanes.stop(0);
  working.delete('first');
  await untilShared(2, 3);
  await working.get('third')?.lanes.stop(0);
  working.delete('third');
  await untilShared(5);
});

it.each([
  [4, [1, 1, 2]],
  [7, [2, 2, 3]],
  [2, [0, 1, 1]],
])('%i lanes are shared evenly within one by three workers, whoever came first', async (lanes, counts) => {
  partitions = named(lanes);
  work('second');
  work('third');
  await untilShared(Math.floor(lanes / 2), Math.ceil(lanes / 2));
  work('first');
  await untilShared(...counts);
});
