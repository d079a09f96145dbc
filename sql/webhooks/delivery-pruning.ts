import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import type { Queryable } from '../database/pool.ts';
import { PAID } from './subscriptions.ts';

/** A UUIDv7 has its milliseconds in the first 48 bits. */
const AGE_BITS = '-0000-0000-0000-000000000000';

/**
 * Deletes up to `limit` finished deliveries whose event is older than `before`.
 *
 * @param before milliseconds since the epoch
 * @returns the number deleted
 */
export async function deleteOldDeliveries(db: Queryable, before: number, limit: number): Promise<number> {
  const hex = Math.max(0, Math.floor(before)).toString(16).padStart(12, '0');
  const { rowCount } = await db.query(
    `DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
       SELECT id FROM webhook_deliveries WHERE id < $1 AND status <> 'pending' ORDER BY id LIMIT $2))`,
    [`${hex.slice(0, 8)}-${hex.slice(8)}${AGE_BITS.slice(5)}`, limit],
  );
  return rowCount ?? 0;
}

/**
 * Deletes deliveries of clicks, alone or in batches, with this status, except the newest `kept` of each of these
 * webhooks.
 *
 * @returns the number deleted
 */
export async function deleteOldClickDeliveries(
  db: Queryable,
  webhookIds: readonly string[],
  type: typeof CLICK_EVENT | typeof CLICK_BATCH,
  status: 'delivered' | 'failed',
  kept: number,
): Promise<number> {
  if (webhookIds.length === 0) return 0;
  // The literal lets the planner use the partial index of the type.
  const { rowCount } = await db.query(
    `DELETE FROM webhook_deliveries AS delivery USING unnest($1::uuid[]) AS hook (id)
     WHERE delivery.webhook_id = hook.id AND type = '${type}' AND status = $2 AND status <> 'pending'
       AND created_at < (
         SELECT created_at FROM webhook_deliveries AS newer
         WHERE newer.webhook_id = hook.id AND newer.type = '${type}' AND newer.status = $2
           AND newer.status <> 'pending'
         ORDER BY created_at DESC OFFSET $3 LIMIT 1)`,
    [webhookIds, status, kept - 1],
  );
  return rowCount ?? 0;
}

/**
 * Deletes up to `limit` deliveries of clicks before `before` that wait for a plan to be renewed. There may be very
 * many, and they are useless so late.
 *
 * @param before milliseconds since the epoch
 * @returns the number deleted
 */
export async function deletePausedClicks(db: Queryable, before: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
       SELECT delivery.id FROM webhooks AS webhook JOIN workspaces AS workspace ON workspace.id = webhook.workspace_id
         JOIN webhook_deliveries AS delivery ON delivery.webhook_id = webhook.id
       WHERE webhook.is_active AND NOT (${PAID}) AND delivery.status = 'pending' AND delivery.type IN ('${CLICK_EVENT}', '${CLICK_BATCH}')
         AND delivery.created_at < to_timestamp($1::float8 / 1000) LIMIT $2))`,
    [before, limit],
  );
  return rowCount ?? 0;
}

/**
 * Deletes up to `limit` deliveries of deleted webhooks, then the webhooks without any. Returns the number of
 * deliveries.
 */
export async function purgeDeletedWebhooks(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
       SELECT delivery.id FROM webhook_deliveries AS delivery JOIN webhooks AS webhook ON webhook.id = delivery.webhook_id
       WHERE webhook.deleted_at < now() - interval '1 minute' LIMIT $1))`,
    [limit],
  );
  // A deliverer that has not read the deletion yet may still write rows for it.
  await db.query(
    `DELETE FROM webhooks AS webhook WHERE deleted_at < now() - interval '1 hour'
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_id = webhook.id)`,
  );
  return rowCount ?? 0;
}

/** Makes deliveries due now that would wait for more than `longestMs`. Milliseconds. */
export async function capNextAttempts(db: Queryable, now: number, longestMs: number): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries SET next_attempt_at = to_timestamp($1::float8 / 1000)
     WHERE status = 'pending' AND next_attempt_at > to_timestamp(($1::float8 + $2) / 1000)`,
    [now, longestMs],
  );
}
