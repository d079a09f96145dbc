import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestStores, testStores } from '../test/support/stores.ts';
import {
  advanceLane,
  commitIntent,
  type Lane,
  LaneLost,
  leastNextOffset,
  lockLane,
  releaseLane,
  renewLane,
  takeLane,
} from './lanes.ts';
import { inTransaction } from './pool.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

async function taken(partition: string, leaseMs: number, consumer = 'store'): Promise<Lane> {
  const lane = await takeLane(stores.pool, { consumer, partition, holder: 'test', leaseMs });
  if (!lane) throw new Error('the lane is held');
  return lane;
}

it('is taken by one of many that try at once', async () => {
  const tries = Array.from({ length: 8 }, () =>
    takeLane(stores.pool, { consumer: 'store', partition: 'p1', holder: 'test', leaseMs: 60_000 }),
  );
  const lanes = (await Promise.all(tries)).filter((lane) => lane !== null);
  expect(lanes).toEqual([{ consumer: 'store', partition: 'p1', epoch: 1, nextOffset: 0n, intent: null }]);
});

it('can be taken at once when it is released, and when its lease has run out', async () => {
  const first = await taken('p2', 60_000);
  await releaseLane(stores.pool, first);
  const second = await taken('p2', 0);
  expect((await taken('p2', 60_000)).epoch).toBe(second.epoch + 1);
});

it('lets a former holder write nothing', async () => {
  const { pool } = stores;
  const former = await taken('p3', 0);
  const holder = await taken('p3', 60_000);
  const intent = { from: 0n, to: 5n, token: 't' };
  await expect(commitIntent(pool, former, intent)).rejects.toBeInstanceOf(LaneLost);
  await expect(renewLane(pool, former, 1_000)).rejects.toBeInstanceOf(LaneLost);
  await expect(lockLane(pool, former)).rejects.toBeInstanceOf(LaneLost);
  await releaseLane(pool, former);
  await renewLane(pool, holder, 60_000);
});

it('hands an intent to the successor until the lane has advanced', async () => {
  const { pool } = stores;
  const lane = await taken('p4', 0);
  await commitIntent(pool, lane, { from: 0n, to: 2n ** 60n, token: 'token' });
  const successor = await taken('p4', 0);
  expect(successor.intent).toEqual({ from: 0n, to: 2n ** 60n, token: 'token' });
  await inTransaction(pool, async (transaction) => {
    expect(await lockLane(transaction, successor)).toBe(0n);
    await advanceLane(transaction, successor, 2n ** 60n);
  });
  expect(await taken('p4', 0)).toMatchObject({ nextOffset: 2n ** 60n, intent: null });
});

it('keeps what the slowest consumer still needs', async () => {
  const { pool } = stores;
  expect(await leastNextOffset(pool, 'p5')).toBeNull();
  for (const [consumer, offset] of [
    ['store', 900n],
    ['webhooks', 20n],
  ] as const) {
    const lane = await taken('p5', 60_000, consumer);
    await advanceLane(pool, lane, offset);
  }
  expect(await leastNextOffset(pool, 'p5')).toBe(20n);
});
