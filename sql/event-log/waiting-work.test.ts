import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { createWorkspace } from '../workspaces/workspaces.ts';
import { waitingWork } from './waiting-work.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

const NOTHING = {
  attribution: false,
  pendingSignups: false,
  trackedPurchases: false,
  earlyRefunds: false,
  orderPublications: false,
};

test('each kind of work is told while it waits, and no longer', async () => {
  const { pool } = stores;
  const { id: workspace } = await createWorkspace(pool, { name: 'Shop', plan: 'pro' });
  expect(await waitingWork(pool)).toEqual(NOTHING);

  const { rows } = await pool.query<{ internal_id: string }>(
    `INSERT INTO orders (workspace_id, order_id, version, source, ts, stream_ordinal, amount_minor, currency,
       attribution_model, attribution_window)
     VALUES ($1, 'o-1', 7, 'server', 1, 0, 100, 'EUR', 'last_click', 30) RETURNING internal_id`,
    [workspace],
  );
  const order = rows[0]?.internal_id;
  expect(await waitingWork(pool)).toEqual({ ...NOTHING, attribution: true, trackedPurchases: true });
  await pool.query('UPDATE orders SET attributed_version = version');
  expect(await waitingWork(pool)).toEqual({ ...NOTHING, trackedPurchases: true });
  await pool.query('UPDATE orders SET referral_judged_at = now()');
  expect(await waitingWork(pool)).toEqual(NOTHING);
  await pool.query('UPDATE orders SET version = version + 1');
  expect(await waitingWork(pool)).toEqual({ ...NOTHING, attribution: true });
  await pool.query('UPDATE orders SET attributed_version = version');

  await pool.query('INSERT INTO order_publications (order_internal_id) VALUES ($1)', [order]);
  expect(await waitingWork(pool)).toEqual({ ...NOTHING, orderPublications: true });
  await pool.query('DELETE FROM order_publications');

  await pool.query(
    "INSERT INTO early_refunds (workspace_id, refund_id, order_id, reported_at) VALUES ($1, 'f', 'later', now())",
    [workspace],
  );
  expect(await waitingWork(pool)).toEqual({ ...NOTHING, earlyRefunds: true });
  await pool.query('DELETE FROM early_refunds');

  await pool.query(
    `INSERT INTO signups (id, workspace_id, external_user_id, state, reported_at) VALUES ($1, $2, 'u-1', 'pending', now())`,
    [randomUUID(), workspace],
  );
  expect(await waitingWork(pool)).toEqual({ ...NOTHING, pendingSignups: true });
  await pool.query('DELETE FROM signups');
  expect(await waitingWork(pool)).toEqual(NOTHING);
});
