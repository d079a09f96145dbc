import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRewriting } from '../../clickhouse/erasures.ts';
import { rollUp } from '../../clickhouse/rollups/roll-up.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { createWorkspace, updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { removeExpired } from './retain.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

const nanos = (iso: string) => BigInt(Date.parse(iso)) * 1_000_000n;

async function workspace(months: number | null): Promise<string> {
  const { id } = await createWorkspace(stores.pool, { name: 'Shop', plan: 'pro' });
  await updateWorkspace(stores.pool, id, { retention_months: months });
  const days = ['2026-11-19', '2026-10-01', '2026-09-30', '2026-08-15', '2025-12-31'];
  await storeClicks(
    stores,
    days.map((day) => ({ workspaceId: id, tsNanos: nanos(`${day}T10:00:00Z`) })),
  );
  return id;
}

async function daysOf(table: string, workspaceId: string, day: string): Promise<string[]> {
  const result = await stores.clickhouse.query({
    query: `SELECT DISTINCT toString(${day}) AS day FROM ${table} WHERE workspace_id = {workspace:UUID} ORDER BY day`,
    query_params: { workspace: workspaceId },
    clickhouse_settings: { apply_deleted_mask: 0 },
    format: 'JSONEachRow',
  });
  return (await result.json<{ day: string }>()).map((row) => row.day);
}

async function run(): Promise<void> {
  await removeExpired(
    {
      pool: stores.pool,
      replicas: [{ name: 'main', clickhouse: stores.clickhouse }],
      metrics: createWorkerMetrics(new Registry()),
    },
    NOW,
  );
  await expect.poll(() => isRewriting(stores.clickhouse)).toBe(false);
}

it('clicks older than their workspace keeps them leave the table and the roll-ups, by month; others stay', async () => {
  const [one, three, forever] = [await workspace(1), await workspace(3), await workspace(null)];
  const all = ['2025-12-31', '2026-08-15', '2026-09-30', '2026-10-01', '2026-11-19'];
  await rollUp(stores.clickhouse, '2026-11-20', NOW);
  expect(await daysOf('clicks', one, 'toDate(ts)')).toEqual(all);

  await run();
  expect(await daysOf('clicks', one, 'toDate(ts)')).toEqual(['2026-10-01', '2026-11-19']);
  expect(await daysOf('clicks', three, 'toDate(ts)')).toEqual(all.slice(1));
  expect(await daysOf('clicks', forever, 'toDate(ts)')).toEqual(all);

  await rollUp(stores.clickhouse, '2026-11-20', NOW);
  const rolledUp = `(SELECT * FROM clicks_rolled_up WHERE generation IN
    (SELECT generation FROM rolled_up_periods FINAL WHERE period = 'day'))`;
  expect(await daysOf(rolledUp, one, 'start')).toEqual(['2026-10-01', '2026-11-19']);
  expect(await daysOf(rolledUp, forever, 'start')).toEqual(all);
});

it('a click that arrives late goes with the next run, of one worker at a time', async () => {
  const id = await workspace(1);
  await run();
  await storeClicks(stores, [{ workspaceId: id, tsNanos: nanos('2026-09-01T00:00:00Z') }]);
  await withJobLease(stores.pool, 'retention', run);
  expect(await daysOf('clicks', id, 'toDate(ts)')).toContain('2026-09-01');
  await run();
  expect(await daysOf('clicks', id, 'toDate(ts)')).toEqual(['2026-10-01', '2026-11-19']);
});
