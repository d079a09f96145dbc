import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { storesTest } from '../../test/support/fixtures.ts';
import { makeLink } from '../../test/support/ingest.ts';
import type { TestStores } from '../../test/support/stores.ts';
import { inTransaction } from '../database/pool.ts';
import { createWorkspace } from '../workspaces/workspaces.ts';
import { pendingWork } from './pending-work.ts';

const NOTHING = {
  waitingReports: false,
  attribution: false,
  leads: false,
  pendingSignups: false,
  trackedPurchases: false,
  earlyRefunds: false,
  orderPublications: false,
  splits: false,
  connectionEvents: false,
  connectionPayments: false,
  promotionCodes: false,
  webhookEvents: false,
  fulfilments: false,
  maturedCommissions: false,
  clockCorrections: false,
  clickImports: false,
  webhookDeliveries: false,
  mails: false,
  reports: false,
  alerts: false,
  affiliateNotices: false,
  chatMessages: false,
  webhookBatches: false,
  destinationPages: false,
};

storesTest('each kind of work is reported while it is pending, and not after', async ({ stores }) => {
  const { pool } = stores;
  const { id: workspace } = await createWorkspace(pool, { name: 'Shop', plan: 'pro' });
  expect(await pendingWork(pool, Date.now())).toEqual(NOTHING);

  const { rows } = await pool.query<{ internal_id: string }>(
    `INSERT INTO orders (workspace_id, order_id, version, source, ts, stream_ordinal, amount_minor, currency,
       attribution_model, attribution_window)
     VALUES ($1, 'o-1', 7, 'server', 1, 0, 100, 'EUR', 'last_click', 30) RETURNING internal_id`,
    [workspace],
  );
  const order = rows[0]?.internal_id;
  expect(await pendingWork(pool, Date.now())).toEqual({
    ...NOTHING,
    attribution: true,
    trackedPurchases: true,
  });
  await pool.query('UPDATE orders SET attributed_version = version');
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, trackedPurchases: true });
  await pool.query('UPDATE orders SET referral_evaluated_at = now()');
  expect(await pendingWork(pool, Date.now())).toEqual(NOTHING);
  await pool.query('UPDATE orders SET version = version + 1');
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, attribution: true });
  await pool.query('UPDATE orders SET attributed_version = version');

  await pool.query(
    `INSERT INTO waiting_reports (ts, stream_ordinal, partition, log_offset, stream_id, sequence, payload)
     VALUES (1, 0, 'ingest-0', 0, $1, 0, '')`,
    [randomUUID()],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, waitingReports: true });
  await pool.query('DELETE FROM waiting_reports');

  const connection = randomUUID();
  await pool.query(
    `INSERT INTO connections (id, workspace_id, provider, settings, created_at, updated_at)
     VALUES ($1, $2, 'stripe', '{}', now(), now())`,
    [connection, workspace],
  );
  await pool.query(
    `INSERT INTO connection_events (workspace_id, connection_id, id, event_id, type, customer_key, body, due_at, received_at)
     VALUES ($1, $2, gen_random_uuid(), 'evt_1', 'invoice.paid', '', '{}', now(), now())`,
    [workspace, connection],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, connectionEvents: true });
  await pool.query("UPDATE connection_events SET status = 'recorded'");
  await pool.query(
    `INSERT INTO connection_payments (id, workspace_id, provider, connection_id, refs, parts, due_at, created_at)
     VALUES (gen_random_uuid(), $1, 'stripe', $2, '{}', '{}', now(), now())`,
    [workspace, connection],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, connectionPayments: true });
  await pool.query('UPDATE connection_payments SET due_at = NULL');

  await pool.query(
    `INSERT INTO leads (workspace_id, ts, stream_ordinal, visitor_id, attribution_model, attribution_window)
     VALUES ($1, 1, 0, $2, 'linear', 30)`,
    [workspace, randomUUID()],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, leads: true });
  await pool.query('UPDATE leads SET attributed_at = now()');
  expect(await pendingWork(pool, Date.now())).toEqual(NOTHING);

  await pool.query('INSERT INTO order_publications (order_internal_id) VALUES ($1)', [order]);
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, orderPublications: true });
  await pool.query('DELETE FROM order_publications');

  await pool.query(
    "INSERT INTO early_refunds (workspace_id, refund_id, order_id, reported_at) VALUES ($1, 'f', 'later', now())",
    [workspace],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, earlyRefunds: true });
  await pool.query('DELETE FROM early_refunds');

  await pool.query(
    `INSERT INTO signups (id, workspace_id, external_user_id, state, reported_at) VALUES ($1, $2, 'u-1', 'pending', now())`,
    [randomUUID(), workspace],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, pendingSignups: true });
  await pool.query('DELETE FROM signups');

  const { id } = await makeLink(pool, workspace, 'https://shop.example/', { split_ends_at: new Date(0) });
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, splits: true });
  await pool.query("UPDATE links SET split_winner = 'a' WHERE id = $1", [id]);
  expect(await pendingWork(pool, Date.now())).toEqual(NOTHING);

  await pool.query(
    "INSERT INTO webhook_outbox (id, workspace_id, type, data) VALUES ($1, $2, 'click.created', '{}')",
    [randomUUID(), workspace],
  );
  expect(await pendingWork(pool, Date.now())).toEqual({ ...NOTHING, webhookEvents: true });
  await pool.query('DELETE FROM webhook_outbox');
  expect(await pendingWork(pool, Date.now())).toEqual(NOTHING);
});

storesTest(
  'deliveries of credits are reported from the moment when they are due, unless the plan has lapsed',
  async ({ stores }) => {
    const { pool } = stores;
    const { id: workspace } = await createWorkspace(pool, { name: 'Rewards', plan: 'pro' });
    const dueAt = Date.now() + 3_600_000;
    const fulfilment = randomUUID();
    await withoutOthers(
      stores,
      `INSERT INTO fulfilments (id, workspace_id, program_id, provider, url, secret, created_at, updated_at)
     VALUES ($1, $2, $1, 'webhook', 'https://shop.example/', '', now(), now())`,
      [fulfilment, workspace],
    );
    await withoutOthers(
      stores,
      `INSERT INTO grant_deliveries (id, grant_id, workspace_id, fulfilment_id, next_attempt_at, created_at)
     VALUES ($2, 1, $1, $2, to_timestamp($3::float8 / 1000), now())`,
      [workspace, fulfilment, dueAt],
    );
    expect(await pendingWork(pool, dueAt - 1)).toEqual(NOTHING);
    expect(await pendingWork(pool, dueAt)).toEqual({ ...NOTHING, fulfilments: true });
    await pool.query("UPDATE workspaces SET plan_status = 'past_due' WHERE id = $1", [workspace]);
    expect(await pendingWork(pool, dueAt)).toEqual(NOTHING);
  },
);

storesTest.for([
  [
    'maturedCommissions',
    `INSERT INTO commissions (id, workspace_id, program_id, enrollment_id, kind, amount_minor, currency, status, note,
       eligible_at, created_at)
     VALUES ($1, $1, $1, $1, 'manual', 100, 'EUR', 'pending', 'bonus', now(), now())`,
    "UPDATE commissions SET eligible_at = now() + interval '1 hour'",
  ],
  [
    'clockCorrections',
    `WITH correction AS (
       INSERT INTO clock_corrections (stream_id, ordinal, first, before, from_ts, to_ts, shift)
       VALUES ($1, 0, 0, 1, 1, 2, 1) RETURNING id)
     INSERT INTO replica_corrections (replica, correction_id, corrected_to) SELECT 'main', id, 1 FROM correction`,
    'DELETE FROM replica_corrections',
  ],
  [
    'webhookDeliveries',
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, type, body, next_attempt_at, created_at)
     VALUES ($1, $1, $1, $1, 'click.created', '{"data":{}}', now() + interval '1 hour', now())`,
    "UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL",
  ],
  [
    'mails',
    `INSERT INTO mails (id, kind, recipient, content, next_attempt_at, created_at, expires_at)
     VALUES ($1, 'password_reset', 'a@shop.example', '', now(), now(), now() + interval '1 hour')`,
    "UPDATE mails SET next_attempt_at = now() + interval '1 hour'",
  ],
  [
    'reports',
    `INSERT INTO reports (id, workspace_id, name, query, schedule, recipients, show_revenue, is_active, next_at, due_at,
       created_at, updated_at)
     VALUES ($1, $1, 'Clicks', '{}', '{}', '[]', false, true, now(), now(), now(), now())`,
    "UPDATE reports SET due_at = now() + interval '1 hour'",
  ],
  [
    'alerts',
    `INSERT INTO alerts (id, workspace_id, name, query, condition, recipients, quiet_hours, is_active, since, due_at,
       created_at, updated_at)
     VALUES ($1, $1, 'No clicks', '{}', '{}', '[]', 12, true, now(), now(), now(), now())`,
    "UPDATE alerts SET due_at = now() + interval '1 hour'",
  ],
  [
    'chatMessages',
    `INSERT INTO chat_messages (id, workspace_id, chat, address, body, next_attempt_at, created_at, expires_at)
     VALUES ($1, $1, 'slack', 'https://chat.example/', '{}', now(), now(), now() + interval '1 hour')`,
    "UPDATE chat_messages SET next_attempt_at = now() + interval '1 hour'",
  ],
  [
    'webhookBatches',
    `INSERT INTO webhook_batched_clicks (webhook_id, event_id, workspace_id, link_id, visitor_id, clicked_at, click,
       seen_at)
     VALUES ($1, $1, $1, $1, $1, now(), '{}', now())`,
    'DELETE FROM webhook_batched_clicks',
  ],
  [
    'destinationPages',
    `INSERT INTO destination_pages (workspace_id, url_sha256, url, due_at, wanted_at)
     VALUES ($1, '', 'https://shop.example/', now(), now())`,
    'UPDATE destination_pages SET due_at = NULL',
  ],
] as const)(
  '%s are reported while they are pending, and not after',
  async ([kind, insert, end], { stores }) => {
    await withoutOthers(stores, insert, [randomUUID()]);
    expect(await pendingWork(stores.pool, Date.now())).toEqual({ ...NOTHING, [kind]: true });
    await withoutOthers(stores, end);
    expect(await pendingWork(stores.pool, Date.now())).toEqual(NOTHING);
  },
);

/** Runs a statement without checks of references and without triggers. */
async function withoutOthers(stores: TestStores, statement: string, values: unknown[] = []): Promise<void> {
  await inTransaction(stores.admin, async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(statement, values);
  });
}
