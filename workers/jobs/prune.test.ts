import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { storesTest as it } from '../../test/support/fixtures.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { pruneOld } from './prune.ts';

it('removes changes, idempotency keys, audit entries, and events of providers that are past their age, and no others', async ({
  stores,
}) => {
  const { pool } = stores;
  const { id } = await createWorkspace(pool, { name: 'Shop', plan: 'pro' });
  await pool.query('DELETE FROM link_changes');
  await pool.query(
    `INSERT INTO link_changes (kind, target_id, made_at)
     VALUES ('link', gen_random_uuid(), now() - interval '25 hours'), ('link', gen_random_uuid(), now())`,
  );
  await pool.query(
    `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, status, body, created_at)
     VALUES ($1, 'old', '', 201, '{}', now() - interval '25 hours'),
            ($1, 'new', '', 201, '{}', now() - interval '23 hours')`,
    [id],
  );
  await pool.query(
    `INSERT INTO audit_entries (id, workspace_id, at, actor_type, action, target_type)
     SELECT gen_random_uuid(), $1, now() - age, 'operator', 'test', 'test'
     FROM unnest('{13 months 1 day, 12 months}'::interval[]) AS age`,
    [id],
  );
  await pool.query(
    `INSERT INTO connections (id, workspace_id, provider, settings, created_at, updated_at)
     VALUES (gen_random_uuid(), $1, 'stripe', '{}', now(), now())`,
    [id],
  );
  await pool.query(
    `INSERT INTO connection_events (workspace_id, connection_id, id, event_id, type, customer_key, body, due_at,
       received_at)
     SELECT workspace_id, id, gen_random_uuid(), age::text, 'plan.created', 'cus_1', '{}', now(), now() - age
     FROM connections, unnest('{30 days 1 minute, 29 days}'::interval[]) AS age WHERE workspace_id = $1`,
    [id],
  );
  expect(await pruneOld({ pool, metrics: createWorkerMetrics(new Registry()) })).toBe(false);
  expect((await pool.query('SELECT FROM link_changes')).rowCount).toBe(1);
  expect((await pool.query('SELECT key FROM idempotency_keys')).rows).toEqual([{ key: 'new' }]);
  expect((await pool.query('SELECT FROM audit_entries')).rowCount).toBe(1);
  expect((await pool.query('SELECT event_id FROM connection_events')).rows).toEqual([
    { event_id: '29 days' },
  ]);
});
