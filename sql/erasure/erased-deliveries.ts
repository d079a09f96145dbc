import { CLICK_EVENT, type EventType } from '../../core/webhooks/event-types.ts';
import type { Queryable } from '../database/pool.ts';
import type { Erasure } from './erasures.ts';

/**
 * SQL: the link of a click's delivery, and the visitor of a click's, a lead's or a sale's. Indexes have exactly these
 * expressions.
 */
const linkOf = (delivery: string) => `(${delivery}.body::json #>> '{data,link_id}')::uuid`;
const visitorOf = (delivery: string) => `(${delivery}.body::json #>> '{data,visitor_id}')::uuid`;

/** SQL: whether the event of a delivery is older than an erasure of its visitor, who may return after it. */
const wasBefore = (delivery: string, erased: string) =>
  `(${delivery}.body::json ->> 'created_at')::timestamptz <= ${erased}`;

/**
 * Returns SQL: whether a delivery is of a click whose link or visitor is erased, or will be.
 *
 * @param delivery name of the row
 */
export function isErased(delivery: string): string {
  const erased = (kind: Erasure['kind'], target: string, when = 'true') =>
    `EXISTS (SELECT FROM erasures AS erasure WHERE erasure.workspace_id = ${delivery}.workspace_id
       AND erasure.kind = '${kind}' AND erasure.target_id = ${target} AND ${when})`;
  const beforeIt = wasBefore(delivery, 'erasure.requested_at');
  return `(${delivery}.type = '${CLICK_EVENT}'
    AND (${erased('link', linkOf(delivery))} OR ${erased('visitor', visitorOf(delivery), beforeIt)}))`;
}

/**
 * Deletes up to `limit` deliveries of clicks that these erasures concern, pending ones included.
 *
 * @returns how many were found: fewer than `limit` means that none is left
 */
export async function deleteErasedDeliveries(
  db: Queryable,
  erasures: readonly Pick<Erasure, 'id'>[],
  limit: number,
): Promise<number> {
  if (erasures.length === 0) return 0;
  const ofKind = (kind: Erasure['kind'], target: string) =>
    `SELECT id FROM webhook_deliveries AS delivery
     WHERE erased.kind = '${kind}' AND type = '${CLICK_EVENT}' AND ${target} = erased.target_id
       AND workspace_id = erased.workspace_id`;
  // Locks in id order, as deliverers do, so that neither deadlocks.
  const { rows } = await db.query<{ found: number }>(
    `WITH found AS MATERIALIZED (
       SELECT of_target.id FROM erasures AS erased CROSS JOIN LATERAL (
         (${ofKind('link', linkOf('delivery'))} LIMIT $2) UNION ALL
         (${ofKind('visitor', visitorOf('delivery'))} AND ${wasBefore('delivery', 'erased.requested_at')} LIMIT $2)
       ) AS of_target WHERE erased.id = ANY ($1::bigint[]) LIMIT $2
     ), gone AS (
       DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
         SELECT id FROM webhook_deliveries WHERE id = ANY (ARRAY(SELECT id FROM found)) ORDER BY id FOR UPDATE))
     )
     SELECT count(*) AS found FROM found`,
    [erasures.map((erasure) => erasure.id), limit],
  );
  return rows[0]?.found ?? 0;
}

/** Fields that an erasure clears in a lead and in a sale, as in their signup and order. */
const FORGOTTEN = {
  'lead.created': { visitor_id: null, email: null },
  'lead.blocked': { visitor_id: null, email: null },
  'sale.created': { visitor_id: null, external_user_id: null },
  'sale.updated': { visitor_id: null, external_user_id: null },
} satisfies Partial<Record<EventType, object>>;

const LEADS = ['lead.created', 'lead.blocked'] as const;
const SALES = ['sale.created', 'sale.updated'] as const;

/** SQL of the identifiers in an outbox event and in a delivery. Indexes have exactly these delivery expressions. */
const NAMING = {
  visitor: { outbox: "(data ->> 'visitor_id')::uuid", delivery: visitorOf('delivery'), type: 'uuid' },
  order: {
    outbox: "(data ->> 'order_id')",
    delivery: "(delivery.body::json #>> '{data,order_id}')",
    type: 'text',
  },
  user: {
    outbox: "(data ->> 'external_user_id')",
    delivery: "(delivery.body::json #>> '{data,external_user_id}')",
    type: 'text',
  },
} as const;

/**
 * Removes these visitors from leads and sales: from pending deliveries, from those that can be sent again, and from
 * those that are only shown.
 */
export async function forgetVisitorsInDeliveries(
  db: Queryable,
  visitors: readonly Pick<Erasure, 'workspaceId' | 'targetId'>[],
): Promise<void> {
  for (const event of [...LEADS, ...SALES]) await forget(db, event, 'visitor', visitors);
}

/** Removes buyers from the sales of these orders, which need not name the visitor. */
export async function forgetBuyersInDeliveries(
  db: Queryable,
  orders: readonly { workspaceId: string; orderId: string }[],
): Promise<void> {
  if (orders.length === 0) return;
  const targets = orders.map(({ workspaceId, orderId }) => ({ workspaceId, targetId: orderId }));
  for (const event of SALES) await forget(db, event, 'order', targets);
}

/**
 * Removes these users' details from their leads, which need not name the visitor, and from deliveries of their credits.
 */
export async function forgetUsersInDeliveries(
  db: Queryable,
  workspaceId: string,
  users: readonly string[],
): Promise<void> {
  if (users.length === 0) return;
  const targets = users.map((targetId) => ({ workspaceId, targetId }));
  for (const event of LEADS) await forget(db, event, 'user', targets);
  // Responses of receivers of credits are cleared, because they may contain the user's name in any form.
  await db.query(
    `UPDATE grant_deliveries AS delivery SET response_body = NULL FROM grants AS credit
     WHERE credit.workspace_id = $1 AND credit.external_user_id = ANY ($2) AND delivery.grant_id = credit.id
       AND response_body IS NOT NULL`,
    [workspaceId, users],
  );
}

async function forget(
  db: Queryable,
  event: keyof typeof FORGOTTEN,
  by: keyof typeof NAMING,
  targets: readonly Pick<Erasure, 'workspaceId' | 'targetId'>[],
): Promise<void> {
  const { outbox, delivery, type } = NAMING[by];
  const parameters = [
    targets.map((target) => target.workspaceId),
    targets.map((target) => target.targetId),
    JSON.stringify(FORGOTTEN[event]),
  ];
  const erased = `unnest($1::uuid[], $2::${type}[]) AS erased (workspace_id, target)`;
  await db.query(
    `UPDATE webhook_outbox SET data = data || $3::jsonb FROM ${erased}
     WHERE type = '${event}' AND webhook_outbox.workspace_id = erased.workspace_id AND ${outbox} = erased.target`,
    parameters,
  );
  await db.query(
    `UPDATE webhook_deliveries SET response_body = NULL,
       body = jsonb_set(body::jsonb, '{data}', (body::jsonb -> 'data') || $3::jsonb)::text
     WHERE id = ANY (ARRAY(
       SELECT id FROM webhook_deliveries AS delivery, ${erased}
       WHERE type = '${event}' AND delivery.workspace_id = erased.workspace_id AND ${delivery} = erased.target
       ORDER BY id FOR UPDATE OF delivery))`,
    parameters,
  );
}
