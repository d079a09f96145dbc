import type { Queryable } from '../database/pool.ts';
import { type Attempted, outcomeCounts } from '../deliveries/queue.ts';
import { isErased } from '../erasure/erased-deliveries.ts';

/**
 * The request of an attempt without its body. The headers are those that authenticate the delivery, without secrets.
 */
export type SentRequest = { url: string; headers: Record<string, string> };

/** State of a delivery after an attempt. Times are milliseconds since the epoch. */
export type DeliveryState = {
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  /** Request of the last attempt; null when it sent nothing. */
  request: SentRequest | null;
  nextAttemptAt: number | null;
  deliveredAt: number | null;
};

export type NewDelivery = {
  id: string;
  workspaceId: string;
  webhookId: string;
  eventId: string;
  type: string;
  body: string;
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

/** The outcome of one attempt on a stored delivery. */
export type DeliveryOutcome = Attempted & { state: DeliveryState };

/** Saves the outcomes of attempts that count. */
export async function saveOutcomes(tx: Queryable, settled: readonly DeliveryOutcome[]): Promise<void> {
  // One statement updates a row once. Of two outcomes of one delivery, a success is kept.
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
     WHERE delivery.id = outcome.id AND ${outcomeCounts('outcome.status', 'outcome.before')}`,
    [rows.map((row) => row.id), rows.map((row) => row.before), ...stateColumns(rows.map((row) => row.state))],
  );
}

/** A pending delivery that gets no further attempt. */
export type FailedDelivery = Attempted & { error: string };

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
