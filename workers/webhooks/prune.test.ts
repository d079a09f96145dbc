import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { deleteOldClickDeliveries } from '../../sql/webhooks/delivery-pruning.ts';
import { addDeliveries, type DeliveryState, type NewDelivery } from '../../sql/webhooks/delivery-queue.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { createWebhookBench, type Hook, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { pendingState } from './outcome.ts';
import { createPendingCounts } from './pending-counts.ts';
import { pruneDeliveries } from './prune.ts';

const DAY = 86_400_000;

let bench: WebhookBench;
let shop: TestWorkspace;
let micros = Date.now() * 1_000;
beforeAll(async () => {
  bench = await createWebhookBench();
  shop = await bench.api.addWorkspace();
});
afterAll(() => bench.close());

async function add(hook: Hook, type: string, status: DeliveryState['status'], count: number): Promise<void> {
  const state: DeliveryState =
    status === 'pending'
      ? pendingState(0, Date.now())
      : {
          ...pendingState(1, 0),
          status,
          nextAttemptAt: null,
          deliveredAt: status === 'delivered' ? 1 : null,
        };
  const rows = Array.from({ length: count }, (): NewDelivery => {
    micros += 1;
    return {
      id: uuidv7(),
      workspaceId: shop.workspace.id,
      webhookId: hook.id,
      eventId: uuidv7(),
      type,
      body: '{}',
      createdAt: micros,
      state,
    };
  });
  await addDeliveries(bench.api.stores.pool, rows);
}

async function counts(hook: Hook): Promise<Record<string, number>> {
  const { rows } = await bench.api.stores.pool.query<{ what: string; count: number }>(
    `SELECT type || ' ' || status AS what, count(*) AS count FROM webhook_deliveries WHERE webhook_id = $1 GROUP BY 1`,
    [hook.id],
  );
  return Object.fromEntries(rows.map((row) => [row.what, row.count]));
}

test('of the clicks of a webhook the newest that are over stay, and all that are pending', async () => {
  const { pool } = bench.api.stores;
  const hook = await bench.hook(shop, 'http://127.0.0.1:1/', ['click.created']);
  const other = await bench.hook(shop, 'http://127.0.0.1:1/other', ['click.created']);
  for (const one of [hook, other]) {
    await add(one, 'click.created', 'delivered', 20);
    await add(one, 'click.created', 'failed', 20);
    await add(one, 'click.created', 'pending', 20);
    await add(one, 'credit.earned', 'delivered', 20);
  }
  const newest = (await bench.log(shop, hook, '?status=delivered&limit=50'))
    .filter((one) => one.type === 'click.created')
    .slice(0, 5);
  expect(await deleteOldClickDeliveries(pool, [hook.id], 'click.created', 'delivered', 5)).toBe(15);
  expect(await deleteOldClickDeliveries(pool, [hook.id], 'click.created', 'delivered', 5)).toBe(0);
  expect(await deleteOldClickDeliveries(pool, [hook.id], 'click.created', 'failed', 50)).toBe(0);
  expect(await counts(hook)).toEqual({
    'click.created delivered': 5,
    'click.created failed': 20,
    'click.created pending': 20,
    'credit.earned delivered': 20,
  });
  const left = await bench.log(shop, hook, '?status=delivered&limit=50');
  expect(left.filter((one) => one.type === 'click.created')).toEqual(newest);
  expect((await counts(other))['click.created delivered']).toBe(20);
});

test('what is over goes after 30 days, what is pending stays; a deleted webhook goes with all of it', async () => {
  const { pool } = bench.api.stores;
  const hook = await bench.hook(shop, 'http://127.0.0.1:1/', ['credit.earned']);
  await add(hook, 'credit.earned', 'delivered', 3);
  await add(hook, 'credit.earned', 'pending', 2);
  const shared = {
    pool,
    metrics: createWorkerMetrics(new Registry()),
    pendingCounts: createPendingCounts(pool),
  };
  await pruneDeliveries({ ...shared, now: () => Date.now() + 29 * DAY });
  expect(await counts(hook)).toEqual({ 'credit.earned delivered': 3, 'credit.earned pending': 2 });
  await pruneDeliveries({ ...shared, now: () => Date.now() + 31 * DAY });
  expect(await counts(hook)).toEqual({ 'credit.earned pending': 2 });

  await shop.delete(`/webhooks/${hook.id}`);
  await pool.query(`UPDATE webhooks SET deleted_at = now() - interval '2 hours' WHERE id = $1`, [hook.id]);
  await pruneDeliveries({ ...shared, now: Date.now });
  expect(await counts(hook)).toEqual({});
  expect((await pool.query('SELECT 1 FROM webhooks WHERE id = $1', [hook.id])).rowCount).toBe(0);
});

test('of what waits for a plan to be renewed clicks go after 30 days, and all else stays', async () => {
  const { pool } = bench.api.stores;
  const hook = await bench.hook(shop, 'http://127.0.0.1:1/', ['click.created', 'credit.earned']);
  await add(hook, 'click.created', 'pending', 3);
  await add(hook, 'credit.earned', 'pending', 2);
  const drop = (days: number) =>
    pruneDeliveries({
      pool,
      metrics: createWorkerMetrics(new Registry()),
      pendingCounts: createPendingCounts(pool),
      now: () => Date.now() + days * DAY,
    });
  const setPlan = (status: string) =>
    pool.query('UPDATE workspaces SET plan_status = $2 WHERE id = $1', [shop.workspace.id, status]);
  await drop(31);
  expect(await counts(hook)).toEqual({ 'click.created pending': 3, 'credit.earned pending': 2 });
  await setPlan('canceled');
  try {
    await drop(29);
    expect(await counts(hook)).toEqual({ 'click.created pending': 3, 'credit.earned pending': 2 });
    await drop(31);
    expect(await counts(hook)).toEqual({ 'credit.earned pending': 2 });
  } finally {
    await setPlan('active');
  }
});

test('a webhook with too much pending is full until it has less', async () => {
  const { pool } = bench.api.stores;
  const [hook, other] = [
    await bench.hook(shop, 'http://127.0.0.1:1/full', ['click.created']),
    await bench.hook(shop, 'http://127.0.0.1:1/free', ['click.created']),
  ];
  const pendingCounts = createPendingCounts(pool, { most: 10, countEveryMs: 0 });
  const both = [hook.id, other.id, hook.id];
  await add(hook, 'click.created', 'pending', 10);
  await add(other, 'click.created', 'pending', 9);
  for (let write = 0; write < 10; write++) for (const id of both) pendingCounts.wrote(id);
  expect(await pendingCounts.full(both)).toEqual(new Set([hook.id]));
  expect(await pendingCounts.full(both)).toEqual(new Set([hook.id]));
  await pool.query('DELETE FROM webhook_deliveries WHERE webhook_id = $1', [hook.id]);
  expect(await pendingCounts.full(both)).toEqual(new Set());
  expect(pendingCounts.takeWritten().toSorted()).toEqual([hook.id, other.id].toSorted());
  expect(pendingCounts.takeWritten()).toEqual([]);
});
