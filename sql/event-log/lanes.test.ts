import { afterAll, beforeAll, expect, it } from 'vitest';
import { brokenCount } from '../../core/invariants.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { inTransaction } from '../database/pool.ts';
import {
  advanceLane,
  commitIntent,
  type Lane,
  LaneLost,
  laneOffsets,
  lockLane,
  releaseLane,
  renewLanes,
  resetLane,
  takeLane,
} from './lanes.ts';
import { advanceLaneAndStreams } from './streams.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

async function taken(partition: string, leaseMs: number, consumer = 'store'): Promise<Lane> {
  const lane = await takeLane(stores.pool, { consumer, partition, holder: 'test', leaseMs });
  if (!lane) throw new Error('another worker holds the lane');
  return lane;
}

it('one of many concurrent workers takes a lane', async () => {
  const tries = Array.from({ length: 8 }, () =>
    takeLane(stores.pool, { consumer: 'store', partition: 'p1', holder: 'test', leaseMs: 60_000 }),
  );
  const lanes = (await Promise.all(tries)).filter((lane) => lane !== null);
  expect(lanes).toEqual([
    { consumer: 'store', partition: 'p1', holder: 'test', epoch: 1, nextOffset: 0n, intent: null },
  ]);
});

it('a released lane, or one whose lease has expired, can be taken at once', async () => {
  const first = await taken('p2', 60_000);
  await releaseLane(stores.pool, first);
  const second = await taken('p2', 0);
  expect((await taken('p2', 60_000)).epoch).toBe(second.epoch + 1);
});

it('a former holder can write nothing', async () => {
  const { pool } = stores;
  const former = await taken('p3', 0);
  const holder = await taken('p3', 60_000);
  const intent = { from: 0n, to: 5n, token: 't' };
  await expect(commitIntent(pool, former, intent)).rejects.toBeInstanceOf(LaneLost);
  expect(await renewLanes(pool, [former, holder], 1_000)).toEqual([former]);
  await expect(lockLane(pool, former)).rejects.toBeInstanceOf(LaneLost);
  await releaseLane(pool, former);
  expect(await renewLanes(pool, [holder], 60_000)).toEqual([]);
});

it('the next holder gets the intent until the lane has advanced', async () => {
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

it('no lane moves back', async () => {
  const { pool } = stores;
  const lane = await taken('backward', 60_000);
  const broken = brokenCount('lane_forward');
  await advanceLane(pool, lane, 900n);
  const back = inTransaction(pool, (transaction) => advanceLane(transaction, lane, 899n));
  await expect(back).rejects.toThrow('store/backward at 900 was to advance to 899');
  const range = { from: 900n, to: 899n };
  await expect(advanceLaneAndStreams(pool, lane, range, [], [])).rejects.toThrow(
    'at 900 was to advance to 899',
  );
  expect(brokenCount('lane_forward')).toBe(broken + 2);
  expect(await laneOffsets(pool, 'backward')).toEqual({ least: 900n, greatest: 900n });
});

it('the offsets of a partition are those of its slowest and fastest consumers', async () => {
  const { pool } = stores;
  expect(await laneOffsets(pool, 'p5')).toBeNull();
  for (const [consumer, offset] of [
    ['store', 900n],
    ['webhooks', 20n],
  ] as const) {
    const lane = await taken('p5', 60_000, consumer);
    await advanceLane(pool, lane, offset);
  }
  expect(await laneOffsets(pool, 'p5')).toEqual({ least: 20n, greatest: 900n });
});

it('only the holder resets a lane, from its offset, and may repeat it when a response is lost', async () => {
  const { pool } = stores;
  const former = await taken('p6', 0);
  await advanceLane(pool, former, 900n);
  const holder = await taken('p6', 0);
  await expect(resetLane(pool, former, 5n)).rejects.toBeInstanceOf(LaneLost);
  await resetLane(pool, holder, 5n);
  await resetLane(pool, holder, 5n);
  await advanceLane(pool, holder, 7n);
  await expect(resetLane(pool, holder, 5n)).rejects.toBeInstanceOf(LaneLost);
  expect(await taken('p6', 0)).toMatchObject({ nextOffset: 7n, intent: null });
});

it('a holder of a state that PostgreSQL has lost can write nothing under an epoch that is given again', async () => {
  const { pool } = stores;
  const given = { consumer: 'store', partition: 'p7', leaseMs: 0 };
  const lost = await takeLane(pool, { ...given, holder: 'before' });
  // PostgreSQL loses the commit that took the lane, and another worker gets the same epoch.
  await pool.query(`DELETE FROM log_lanes WHERE partition = 'p7'`);
  const holder = await takeLane(pool, { ...given, holder: 'after' });
  if (!lost || !holder) throw new Error('the lane was not taken');
  expect(lost.epoch).toBe(holder.epoch);
  const intent = { from: 0n, to: 5n, token: 't' };
  await expect(commitIntent(pool, lost, intent)).rejects.toBeInstanceOf(LaneLost);
  await expect(resetLane(pool, lost, 0n)).rejects.toBeInstanceOf(LaneLost);
  await expect(advanceLane(pool, lost, 5n)).rejects.toBeInstanceOf(LaneLost);
  await expect(inTransaction(pool, (transaction) => lockLane(transaction, lost))).rejects.toBeInstanceOf(
    LaneLost,
  );
  expect(await advanceLaneAndStreams(pool, lost, intent, [], [])).toBe(false);
  expect(await renewLanes(pool, [lost], 60_000)).toEqual([lost]);
  await releaseLane(pool, lost);
  await commitIntent(pool, holder, intent);
  await advanceLane(pool, holder, 5n);
});

it('autovacuum leaves the tables of rows that are updated each second alone for minutes', async () => {
  const { rows } = await stores.pool.query<{ vacuum: number; analyze: number }>(
    `SELECT
       (SELECT option_value::int FROM pg_options_to_table(reloptions)
        WHERE option_name = 'autovacuum_vacuum_threshold') AS vacuum,
       (SELECT option_value::int FROM pg_options_to_table(reloptions)
        WHERE option_name = 'autovacuum_analyze_threshold') AS analyze
     FROM pg_class WHERE oid IN ('log_lanes'::regclass, 'live_workers'::regclass, 'ingest_streams'::regclass)`,
  );
  expect(rows).toHaveLength(3);
  for (const { vacuum, analyze } of rows) expect(Math.min(vacuum, analyze)).toBeGreaterThanOrEqual(5_000);
});
