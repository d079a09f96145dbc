import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { hasErasedClicks } from '../erasure/erased-batches.ts';
import { isErased } from '../erasure/erased-deliveries.ts';
import type { SentRequest } from './delivery-queue.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery as it is shown. Instants are ISO 8601 with microseconds; `created_at` is unique in its webhook. */
export type Delivery = {
  id: string;
  event_id: string;
  type: string;
  status: DeliveryStatus;
  attempts: number;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  next_attempt_at: string | null;
  created_at: string;
  delivered_at: string | null;
};

const COLUMNS = `id, event_id, type, status, attempts, response_status, response_body, error,
  ${isoMicros('next_attempt_at')} AS next_attempt_at, ${isoMicros('created_at')} AS created_at,
  ${isoMicros('delivered_at')} AS delivered_at`;

/** Hides deliveries of erased clicks at once; workers delete them a little later. */
const IS_SHOWN = `NOT ${isErased('webhook_deliveries')} AND NOT ${hasErasedClicks('webhook_deliveries')}`;

/**
 * Returns the deliveries of a webhook, newest first.
 *
 * @param page.before ISO 8601 with microseconds: older ones only
 */
export async function listDeliveries(
  db: Queryable,
  workspaceId: string,
  webhookId: string,
  page: { before: string | null; status: DeliveryStatus | null; type: string | null; limit: number },
): Promise<Delivery[]> {
  // The literal lets the planner use the partial index of all other types.
  const typed = page.type === null || page.type === CLICK_EVENT ? '' : `AND type <> '${CLICK_EVENT}'`;
  const { rows } = await db.query<Delivery>(
    `SELECT ${COLUMNS} FROM webhook_deliveries
     WHERE workspace_id = $1 AND webhook_id = $2 AND ($3::timestamptz IS NULL OR webhook_deliveries.created_at < $3)
       AND ($4::text IS NULL OR status = $4) AND ($5::text IS NULL OR type = $5) ${typed} AND ${IS_SHOWN}
     ORDER BY webhook_deliveries.created_at DESC LIMIT $6`,
    [workspaceId, webhookId, page.before, page.status, page.type, page.limit],
  );
  return rows;
}

/** Outcome of a webhook's newest delivery. */
export type LastDelivery = Pick<
  Delivery,
  'id' | 'type' | 'status' | 'attempts' | 'response_status' | 'error' | 'created_at'
>;

/** Returns the newest delivery of each of these webhooks, by webhook. Webhooks without one are left out. */
export async function lastDeliveries(
  db: Queryable,
  workspaceId: string,
  webhookIds: readonly string[],
): Promise<Map<string, LastDelivery>> {
  const { rows } = await db.query<{ webhook_id: string } & LastDelivery>(
    `SELECT hook.id AS webhook_id, last.* FROM unnest($2::uuid[]) AS hook (id) CROSS JOIN LATERAL (
       SELECT id, type, status, attempts, response_status, error, ${isoMicros('created_at')} AS created_at
       FROM webhook_deliveries WHERE workspace_id = $1 AND webhook_id = hook.id AND ${IS_SHOWN}
       ORDER BY webhook_deliveries.created_at DESC LIMIT 1) AS last`,
    [workspaceId, webhookIds],
  );
  return new Map(rows.map(({ webhook_id, ...last }) => [webhook_id, last]));
}

/** A delivery with the request of its last attempt. */
export type DeliveryDetail = Delivery & {
  /** The exact bytes of every attempt. */
  body: string;
  /** Null when nothing was sent. */
  request: SentRequest | null;
};

/** Returns one delivery of a webhook with its request, or null. */
export async function deliveryById(
  db: Queryable,
  workspaceId: string,
  webhookId: string,
  id: string,
): Promise<DeliveryDetail | null> {
  const { rows } = await db.query<DeliveryDetail>(
    `SELECT ${COLUMNS}, body, request FROM webhook_deliveries
     WHERE workspace_id = $1 AND webhook_id = $2 AND id = $3 AND ${IS_SHOWN}`,
    [workspaceId, webhookId, id],
  );
  return rows[0] ?? null;
}

/** Inserts a delivery that is due at once. */
export async function insertDelivery(
  tx: Queryable,
  given: { id: string; workspaceId: string; webhookId: string; eventId: string; type: string; body: string },
): Promise<Delivery> {
  for (;;) {
    // Another delivery of the webhook has this microsecond, and times are unique: try the next one.
    const { rows } = await tx.query<Delivery>(
      `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, type, body, next_attempt_at, created_at)
       SELECT $1, $2, $3, $4, $5, $6, at, at FROM (SELECT clock_timestamp() AS at) AS clock
       ON CONFLICT (webhook_id, created_at) DO NOTHING RETURNING ${COLUMNS}`,
      [given.id, given.workspaceId, given.webhookId, given.eventId, given.type, given.body],
    );
    if (rows[0]) return rows[0];
  }
}

/**
 * Makes a delivery due at once. A finished one restarts its schedule; a pending one keeps its attempts. Returns null
 * when the webhook has none with this id.
 */
export async function redeliver(
  tx: Queryable,
  workspaceId: string,
  webhookId: string,
  id: string,
): Promise<Delivery | null> {
  const { rows } = await tx.query<Delivery>(
    `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = clock_timestamp(), delivered_at = NULL,
       attempts = CASE status WHEN 'pending' THEN attempts ELSE 0 END
     WHERE workspace_id = $1 AND webhook_id = $2 AND id = $3 AND ${IS_SHOWN} RETURNING ${COLUMNS}`,
    [workspaceId, webhookId, id],
  );
  return rows[0] ?? null;
}
