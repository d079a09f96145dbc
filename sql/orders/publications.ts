import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';
import type { OrderSource } from './orders.ts';

/** An order as ClickHouse will have it. */
export type Publication = {
  internal_id: number;
  workspace_id: string;
  order_id: string;
  version: number;
  source: OrderSource;
  /** Microseconds. */
  ts: number;
  stream_ordinal: number;
  /** The visitor, or else the one of the pixel's report or of the buyer's signup. */
  visitor_id: string | null;
  other_visitor_ids: string[];
  email: string | null;
  external_user_id: string | null;
  amount_minor: number;
  currency: string;
};

/** Queues orders that this transaction has changed for ClickHouse. Never waits for a worker that writes one of them. */
export async function queuePublications(tx: Queryable, internalIds: readonly number[]): Promise<void> {
  if (internalIds.length === 0) return;
  await tx.query(
    `INSERT INTO order_publications (order_internal_id) SELECT unnest($1::bigint[])
     ON CONFLICT (order_internal_id) DO NOTHING`,
    [internalIds],
  );
}

/**
 * Waits until no other transaction writes orders to ClickHouse, and blocks others until this one ends. An advisory
 * lock, not a row's: with a row lock the transaction would get an id before it writes, and ingest reads link changes
 * only up to the oldest id.
 */
export async function holdPublications(tx: Queryable): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.orderPublications]);
}

const PUBLICATION = `internal_id, workspace_id, order_id, version, source, ts, stream_ordinal,
  coalesce(visitor_id, pixel_visitor_id, signup_visitor_id) AS visitor_id, other_visitor_ids, email,
  external_user_id, amount_minor, currency`;

/** Returns queued orders that are due, oldest first. The transaction holds the publications. */
export async function duePublications(tx: Queryable, limit: number): Promise<Publication[]> {
  const { rows } = await tx.query<Publication>(
    `SELECT ${PUBLICATION} FROM (
       SELECT order_internal_id FROM order_publications WHERE due_at <= now() ORDER BY order_internal_id LIMIT $1
     ) AS due JOIN orders ON internal_id = order_internal_id ORDER BY internal_id`,
    [limit],
  );
  return rows;
}

/** Returns the orders with these internal ids that still exist. The transaction holds the publications. */
export async function publicationsOf(tx: Queryable, internalIds: readonly string[]): Promise<Publication[]> {
  const { rows } = await tx.query<Publication>(
    `SELECT ${PUBLICATION} FROM orders WHERE internal_id = ANY ($1::bigint[]) ORDER BY internal_id`,
    [internalIds],
  );
  return rows;
}

/** Returns which of these internal ids are queued, due or not. */
export async function queuedOf(tx: Queryable, internalIds: readonly string[]): Promise<string[]> {
  if (internalIds.length === 0) return [];
  const { rows } = await tx.query<{ id: string }>(
    `SELECT order_internal_id::text AS id FROM order_publications WHERE order_internal_id = ANY ($1::bigint[])`,
    [internalIds],
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes orders that are in ClickHouse from the queue. An order with another version by now stays. Locks the orders,
 * because a transaction that changes one holds its lock when it finds the order queued.
 */
export async function dropPublications(
  tx: Queryable,
  published: readonly Pick<Publication, 'internal_id' | 'version'>[],
): Promise<void> {
  await tx.query(
    `WITH held AS MATERIALIZED (
       SELECT internal_id, version FROM orders WHERE internal_id = ANY ($1::bigint[]) ORDER BY internal_id
       FOR NO KEY UPDATE
     )
     DELETE FROM order_publications AS queued
     USING held JOIN unnest($1::bigint[], $2::bigint[]) AS published (internal_id, version) USING (internal_id, version)
     WHERE queued.order_internal_id = held.internal_id`,
    [published.map((order) => order.internal_id), published.map(({ version }) => version)],
  );
}

/** Makes queued orders due again after some minutes. */
export async function delayPublications(
  tx: Queryable,
  internalIds: readonly number[],
  minutes: number,
): Promise<void> {
  await tx.query(
    `UPDATE order_publications SET due_at = now() + $2 * interval '1 minute' WHERE order_internal_id = ANY ($1)`,
    [internalIds, minutes],
  );
}
