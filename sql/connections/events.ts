import type { Provider } from '../../core/connections/providers.ts';
import { uuidv7 } from '../../core/ids.ts';
import { conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Outcomes of an event. `pending`: it is not processed yet. */
export const EVENT_STATUSES = ['pending', 'recorded', 'ignored', 'unmatched', 'failed'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

export type Outcome = { status: Exclude<EventStatus, 'pending'>; reason: string | null };

/** An event as it is shown. */
export type ShownEvent = {
  internal_id: number;
  id: string;
  /** The provider's id. */
  event_id: string;
  type: string;
  status: EventStatus;
  reason: string | null;
  /** Null: no order was recorded. */
  order_id: string | null;
  received_at: string;
};

/** SQL: a signup that was reported later has claimed the event's order. */
const IS_CLAIMED = `(e.status = 'unmatched' AND (e.reason IN ('no_buyer', 'unknown_buyer') OR e.reason LIKE 'unknown_code%')
  AND sold.enrollment_id IS NOT NULL)`;
const STATUS = `CASE WHEN ${IS_CLAIMED} THEN 'recorded' ELSE e.status END`;
const SHOWN = `e.internal_id, e.id, e.event_id, e.type, ${STATUS} AS status,
  CASE WHEN NOT ${IS_CLAIMED} THEN e.reason END AS reason, o.order_id, ${isoMicros('e.received_at')} AS received_at`;
const FROM = `connection_events e LEFT JOIN connection_payments p ON p.id = e.payment_id
  LEFT JOIN orders o ON o.internal_id = p.order_internal_id
  LEFT JOIN purchases sold ON sold.order_internal_id = p.order_internal_id`;

export type ReceivedEvent = {
  workspaceId: string;
  connectionId: string;
  eventId: string;
  type: string;
  customerKey: string | null;
  /** As received. */
  body: string;
};

/** Stores an event. @returns false when the connection has it already */
export async function insertEvent(tx: Queryable, event: ReceivedEvent): Promise<boolean> {
  // A worker holds the connection's lock while it applies an event, and the provider must not wait for it.
  const { rowCount } = await tx.query(
    `WITH told AS (
       UPDATE connections SET last_event_at = clock_timestamp() WHERE id = (
         SELECT id FROM connections WHERE id = $2 FOR NO KEY UPDATE SKIP LOCKED))
     INSERT INTO connection_events (workspace_id, connection_id, id, event_id, type, customer_key, body, due_at,
       received_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(), clock_timestamp())
     ON CONFLICT (connection_id, event_id) DO NOTHING`,
    [
      event.workspaceId,
      event.connectionId,
      uuidv7(),
      event.eventId,
      event.type,
      event.customerKey ?? `event ${event.eventId}`,
      event.body,
    ],
  );
  return rowCount === 1;
}

/** Returns events of a connection, newest first. @param page.before an event's number */
export async function listEvents(
  db: Queryable,
  connectionId: string,
  page: { status: EventStatus | null; before: number | null; limit: number },
): Promise<ShownEvent[]> {
  const { add, parameter, text, values } = conditionsAfter(connectionId);
  add((p) => `${STATUS} = ${p}`, page.status);
  add((p) => `e.internal_id < ${p}`, page.before);
  const { rows } = await db.query<ShownEvent>(
    `SELECT ${SHOWN} FROM ${FROM} WHERE e.connection_id = $1${text()}
     ORDER BY e.internal_id DESC LIMIT ${parameter(page.limit)}`,
    values,
  );
  return rows;
}

/** Returns the event of a connection with this id of the provider, or null. */
export async function eventById(
  db: Queryable,
  connectionId: string,
  eventId: string,
): Promise<(ShownEvent & { payment_id: string | null }) | null> {
  const { rows } = await db.query<ShownEvent & { payment_id: string | null }>(
    `SELECT ${SHOWN}, e.payment_id FROM ${FROM} WHERE e.connection_id = $1 AND e.event_id = $2`,
    [connectionId, eventId],
  );
  return rows[0] ?? null;
}

/** Makes an event pending again. */
export async function replayEvent(tx: Queryable, connectionId: string, eventId: string): Promise<void> {
  await tx.query(
    `UPDATE connection_events SET status = 'pending', reason = NULL, is_replay = true, attempts = 0,
       due_at = clock_timestamp()
     WHERE connection_id = $1 AND event_id = $2`,
    [connectionId, eventId],
  );
}

/** An event that is to be processed. */
export type DueEvent = {
  internal_id: number;
  connection_id: string;
  provider: Provider;
  event_id: string;
  type: string;
  body: string;
  is_replay: boolean;
  attempts: number;
  received_at: Date;
};

/**
 * Returns the next event that is due, or null. Events of one customer are processed in the order of their arrival: an
 * event that waits for its next attempt holds the later ones.
 *
 * @param except events that this run has tried
 */
export async function nextDueEvent(db: Queryable, except: readonly number[]): Promise<DueEvent | null> {
  const { rows } = await db.query<DueEvent>(
    `SELECT internal_id, connection_id, event_id, type, body, is_replay, attempts, received_at,
       (SELECT provider FROM connections WHERE id = e.connection_id) AS provider
     FROM connection_events AS e
     WHERE status = 'pending' AND due_at <= clock_timestamp() AND internal_id <> ALL ($1)
       AND NOT EXISTS (SELECT FROM connection_events AS earlier
         WHERE earlier.connection_id = e.connection_id AND earlier.customer_key = e.customer_key
           AND earlier.status = 'pending' AND earlier.internal_id < e.internal_id)
     ORDER BY internal_id LIMIT 1`,
    [except],
  );
  return rows[0] ?? null;
}

/**
 * Locks and returns the event if it is pending and the first of its customer; null when another worker has processed
 * it.
 */
export async function lockPendingEvent(tx: Queryable, internalId: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `SELECT FROM connection_events WHERE internal_id = $1 AND status = 'pending' FOR NO KEY UPDATE`,
    [internalId],
  );
  return rowCount === 1;
}

/** Records the outcome of an event. */
export async function finishEvent(
  tx: Queryable,
  internalId: number,
  outcome: Outcome & { paymentId: string | null },
): Promise<void> {
  await tx.query(
    'UPDATE connection_events SET status = $2, reason = $3, payment_id = $4 WHERE internal_id = $1',
    [internalId, outcome.status, outcome.reason, outcome.paymentId],
  );
}

/** Reschedules a failed event. */
export async function retryEvent(
  db: Queryable,
  internalId: number,
  given: { reason: string; dueAt: Date },
): Promise<void> {
  await db.query(
    'UPDATE connection_events SET attempts = attempts + 1, reason = $2, due_at = $3 WHERE internal_id = $1',
    [internalId, given.reason, given.dueAt],
  );
}

/** Reschedules an event that waits. */
export async function postponeEvent(db: Queryable, internalId: number, dueAt: Date): Promise<void> {
  await db.query('UPDATE connection_events SET due_at = $2 WHERE internal_id = $1', [internalId, dueAt]);
}
