import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { recordBackup } from '../sql/database/last-backup.ts';
import { createPool } from '../sql/database/pool.ts';
import { registerStream, retireStream } from '../sql/event-log/streams.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { storesTest as test } from '../test/support/fixtures.ts';
import { exposeBackupAge, exposeErasureAge, exposeWatermarkAge } from './exposed-ages.ts';

async function ageIn(registry: Registry, name = 'hoplog_watermark_age_seconds'): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  return metric?.values[0]?.value ?? Number.NaN;
}

test('the age of the watermark is that of the stream that stands furthest back, until it is retired', async ({
  stores,
}) => {
  const registry = new Registry();
  await exposeWatermarkAge(stores.pool, registry);
  expect(await ageIn(registry)).toBe(0);

  const dead = await registerStream(stores.pool, 'dead');
  const living = await registerStream(stores.pool, 'living');
  const stand = (id: string, secondsAgo: number) =>
    stores.pool.query('UPDATE ingest_streams SET visible_before = $2 WHERE stream_id = $1', [
      id,
      Date.now() * 1_000 - secondsAgo * 1_000_000,
    ]);
  await stand(dead.streamId, 3_600);
  await stand(living.streamId, 60);
  const held = await ageIn(registry);
  expect(held).toBeGreaterThanOrEqual(3_600);

  await retireStream(stores.pool, dead.streamId);
  const free = await ageIn(registry);
  expect(free).toBeGreaterThanOrEqual(60);
  expect(free).toBeLessThan(held);
});

test('the age of the newest backup is exposed from the first record on', async ({ stores }) => {
  const registry = new Registry();
  await exposeBackupAge(stores.pool, registry);
  const age = () => ageIn(registry, 'hoplog_backup_age_seconds');
  expect(await age()).toBeNaN();
  await recordBackup(stores.pool);
  await stores.pool.query("UPDATE last_backup SET made_at = now() - interval '3 days 1 second'");
  expect(await age()).toBeGreaterThanOrEqual(3 * 86_400);
  await recordBackup(stores.pool);
  const young = await age();
  expect(young).toBeGreaterThanOrEqual(0);
  expect(young).toBeLessThan(86_400);
});

test('the watermark keeps aging from its last known value while PostgreSQL does not respond', async ({
  stores,
}) => {
  const pool = createPool(stores.databaseUrl, { max: 1 });
  const registry = new Registry();
  await exposeWatermarkAge(pool, registry);
  const before = await ageIn(registry);
  await pool.end();
  expect(await ageIn(registry)).toBeGreaterThanOrEqual(before);
  expect(before).toBeGreaterThan(0);
});

test('the age of erasures is that of the oldest one which is not done', async ({ stores }) => {
  const registry = new Registry();
  await exposeErasureAge(stores.pool, registry);
  const age = () => ageIn(registry, 'hoplog_erasure_age_seconds');
  expect(await age()).toBe(0);

  const workspace = await createWorkspace(stores.pool, { name: 'Shop', plan: 'pro' });
  const request = (hoursAgo: number) =>
    stores.pool.query(
      `INSERT INTO erasures (workspace_id, kind, target_id, requested_at)
       VALUES ($1, 'visitor', gen_random_uuid(), now() - make_interval(hours => $2))`,
      [workspace.id, hoursAgo],
    );
  await request(30);
  await request(2);
  expect(await age()).toBeGreaterThanOrEqual(30 * 3_600);
  await stores.pool.query(
    "UPDATE erasures SET done_at = now() WHERE requested_at < now() - interval '1 day'",
  );
  const younger = await age();
  expect(younger).toBeGreaterThanOrEqual(2 * 3_600);
  expect(younger).toBeLessThan(30 * 3_600);
  await stores.pool.query('UPDATE erasures SET done_at = now()');
  expect(await age()).toBe(0);
});
