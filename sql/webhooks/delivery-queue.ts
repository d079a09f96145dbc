import type { Queryable } from '../database/pool.ts';
import { isErased } from '../erasure/erased-deliveries.ts';

/** A stored delivery that this worker attempts. */
export type ClaimedDelivery = {
  id: string;
  workspaceId: string;
  webhookId: string;
  eventId: string;
  type: string;
  body: string;
  attempts: number;
};

/**
 * Returns the webhooks that have a delivery due. A recursive query reads one index entry for each webhook: the
 * backlog of one does not slow the others.
 *
 * @param now milliseconds since the epoch
 */
export async function webhooksWithDueDeliveries(db: Queryable, now: number): Promise<string[]> {
  const { rows } = await db.query<{ webhook_id: string }>({
    name: 'webhooks_with_due_deliveries',
    text: `WITH RECURSIVE first AS (
       (SELECT webhook_id, next_attempt_at FROM webhook_deliveries WHERE status = 'pending'
        ORDER BY webhook_id, next_attempt_at LIMIT 1)
       UNION ALL
       SELECT next.webhook_id, next.next_attempt_at FROM first CROSS JOIN LATERAL (
         SELECT webhook_id, next_attempt_at FROM webhook_deliveries
         WHERE status = 'pending' AND webhook_id > first.webhook_id
         ORDER BY webhook_id, next_attempt_at LIMIT 1) AS next
     )
     SELECT webhook_id FROM first WHERE next_attempt_at <= to_timestamp($1::float8 / 1000)
     ORDER BY next_attempt_at`,
    values: [now],
  });
  return rows.map((row) => row.webhook_id);
}

/**
 * Claims due deliveries, up to `room` for each webhook, longest due first. No other worker claims them for `leaseMs`;
 * then the attempt counts as lost and they are due again.
 *
 * @param now milliseconds since the epoch
 */
export async function claimDueDeliveries(
  db: Queryable,
  rooms: readonly { webhookId: string; room: number }[],
  now: number,
  leaseMs: number,
): Promise<ClaimedDelivery[]> {
  if (rooms.length === 0) return [];
  const { rows } = await db.query<{
    id: string;
    workspace_id: string;
    webhook_id: string;
    event_id: string;
    type: string;
    body: string;
    attempts: number;
  }>(
    `WITH claimed AS MATERIALIZED (
       SELECT due.id FROM unnest($1::uuid[], $2::int[]) AS hook (id, room) CROSS JOIN LATERAL (
         SELECT id FROM webhook_deliveries
         WHERE webhook_id = hook.id AND status = 'pending' AND next_attempt_at <= to_timestamp($3::float8 / 1000)
         ORDER BY next_attempt_at LIMIT hook.room FOR UPDATE SKIP LOCKED) AS due
     )
     UPDATE webhook_deliveries AS delivery SET next_attempt_at = to_timestamp(($3::float8 + $4) / 1000)
     FROM claimed WHERE delivery.id = claimed.id
     RETURNING delivery.id, workspace_id, webhook_id, event_id, type, body, attempts`,
    [rooms.map((room) => room.webhookId), rooms.map((room) => room.room), now, leaseMs],
  );
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    type: row.type,
    body: row.body,
    attempts: row.attempts,
  }));
}

/** What an attempt sent besides the body. The headers are those that prove the delivery, without secrets. */
export type SentRequest = { url: string; headers: Record<string, string> };

/** State of a delivery after an attempt. Times are milliseconds since the epoch. */
export type DeliveryState = {
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  /** Of the last attempt; null when it sent nothing. */
  request: SentRequest | null;
  nextAttemptAt: number | null;
  deliveredAt: number | null;
};

export type NewDelivery = Omit<ClaimedDelivery, 'attempts'> & {
  /** Microseconds since the epoch, unique among the webhook's deliveries. */
  createdAt: number;
  state: DeliveryState;
};

/** Inserts deliveries; existing ones stay as they are. Leaves out clicks on links whose history was erased. */
export async function addDeliveries(tx: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.query(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, type, body, status, attempts,
       response_status, response_body, error, request, next_attempt_at, created_at, delivered_at)
     SELECT id, workspace_id, webhook_id, event_id, type, body, status, attempts, response_status, response_body,
       error, request::jsonb, to_timestamp(next_at / 1000), 'epoch'::timestamptz + created * interval '1 microsecond',
       to_timestamp(delivered / 1000)
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::int[],
       $9::int[], $10::text[], $11::text[], $12::text[], $13::float8[], $14::float8[], $15::bigint[])
       AS given (id, workspace_id, webhook_id, event_id, type, body, status, attempts, response_status,
         response_body, error, request, next_at, delivered, created)
     WHERE NOT ${isErased('given')}
     ON CONFLICT (id) DO NOTHING`,
    [
      deliveries.map((row) => row.id),
      deliveries.map((row) => row.workspaceId),
      deliveries.map((row) => row.webhookId),
      deliveries.map((row) => row.eventId),
      deliveries.map((row) => row.type),
      deliveries.map((row) => row.body),
      ...stateColumns(deliveries.map((row) => row.state)),
      deliveries.map((row) => row.createdAt),
    ],
  );
}

/** Parameters in the order of the statements here: status to request, next attempt, delivery time. */
function stateColumns(states: readonly DeliveryState[]): unknown[][] {
  return [
    states.map((state) => state.status),
    states.map((state) => state.attempts),
    states.map((state) => state.responseStatus),
    states.map((state) => state.responseBody),
    states.map((state) => state.error),
    states.map((state) => state.request && JSON.stringify(state.request)),
    states.map((state) => state.nextAttemptAt),
    states.map((state) => state.deliveredAt),
  ];
}

/** The outcome of one attempt on a stored delivery. `before`: its attempts when the attempt started. */
export type DeliveryOutcome = { id: string; before: number; state: DeliveryState };

/**
 * Saves the outcomes of attempts. A success always counts. A failure counts only while the delivery is as its attempt
 * found it: it may have been delivered or restarted since.
 */
export async function saveOutcomes(tx: Queryable, settled: readonly DeliveryOutcome[]): Promise<void> {
  // One statement updates a row once: of two outcomes of one delivery the success stays.
  const last = new Map<string, DeliveryOutcome>();
  for (const outcome of settled) {
    if (last.get(outcome.id)?.state.status !== 'delivered') last.set(outcome.id, outcome);
  }
  // In id order, so that two deliverers never deadlock.
  const rows = [...last.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (rows.length === 0) return;
  await tx.query(
    `UPDATE webhook_deliveries AS delivery SET status = outcome.status, attempts = outcome.attempts,
       response_status = outcome.response_status, response_body = outcome.response_body, error = outcome.error,
       request = outcome.request::jsonb, next_attempt_at = to_timestamp(next_at / 1000), delivered_at = to_timestamp(delivered / 1000)
     FROM unnest($1::uuid[], $2::int[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[],
       $9::float8[], $10::float8[])
       AS outcome (id, before, status, attempts, response_status, response_body, error, request, next_at, delivered)
     WHERE delivery.id = outcome.id AND delivery.status <> 'delivered'
       AND (outcome.status = 'delivered' OR (delivery.status = 'pending' AND delivery.attempts = outcome.before))`,
    [rows.map((row) => row.id), rows.map((row) => row.before), ...stateColumns(rows.map((row) => row.state))],
  );
}

/** A pending delivery that gets no further attempt. `before`: its attempts when that was decided. */
export type FailedDelivery = { id: string; before: number; error: string };

/**
 * Fails deliveries without an attempt. The request and response of the last one stay in the log. Deliveries that were
 * delivered or restarted since stay as they are.
 */
export async function failDeliveries(tx: Queryable, ended: readonly FailedDelivery[]): Promise<void> {
  if (ended.length === 0) return;
  await tx.query(
    `UPDATE webhook_deliveries AS delivery SET status = 'failed', error = given.error, next_attempt_at = NULL
     FROM unnest($1::uuid[], $2::int[], $3::text[]) AS given (id, before, error)
     WHERE delivery.id = given.id AND delivery.status = 'pending' AND delivery.attempts = given.before`,
    [ended.map((row) => row.id), ended.map((row) => row.before), ended.map((row) => row.error)],
  );
}

/** Releases claimed deliveries, due at once: their attempts were cut off. */
export async function releaseDeliveries(
  tx: Queryable,
  released: readonly { id: string; before: number }[],
  now: number,
): Promise<void> {
  if (released.length === 0) return;
  await tx.query(
    `UPDATE webhook_deliveries AS delivery SET next_attempt_at = to_timestamp($3::float8 / 1000)
     FROM unnest($1::uuid[], $2::int[]) AS given (id, before)
     WHERE delivery.id = given.id AND delivery.status = 'pending' AND delivery.attempts = given.before`,
    [released.map((row) => row.id), released.map((row) => row.before), now],
  );
}

/** Counts pending deliveries of a webhook, up to `most`. */
export async function countPending(db: Queryable, webhookId: string, most: number): Promise<number> {
  const { rows } = await db.query<{ found: number }>(
    `SELECT count(*) AS found FROM (
       SELECT 1 FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending' LIMIT $2) AS pending`,
    [webhookId, most],
  );
  return rows[0]?.found ?? 0;
}

/** Counts pending deliveries of all webhooks, up to `most`. */
export async function countAllPending(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ found: number }>(
    `SELECT count(*) AS found FROM (
       SELECT 1 FROM webhook_deliveries WHERE status = 'pending' LIMIT $1) AS pending`,
    [most],
  );
  return rows[0]?.found ?? 0;
}
