import type { Queryable } from '../database/pool.ts';
import type { AttributionModel } from '../workspaces/workspaces.ts';
import { visitorOfUser } from './user-visitors.ts';

/** The shares of one version of an order: their number and the order's time then (microseconds), by which they are found. */
export type WrittenShares = { version: number; parts: number; ts: number; streamOrdinal: number };

/** An order that waits for attribution. */
export type UnattributedOrder = {
  internalId: number;
  workspaceId: string;
  orderId: string;
  version: number;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
  /** The order's visitor, or the visitor known to be its user; null: none. */
  visitorId: string | null;
  /** Earlier ids of the same browser. */
  otherVisitorIds: readonly string[];
  email: string | null;
  amountMinor: number;
  currency: string;
  /** An older order of the same payment counts instead: it has no shares. */
  isGivenUp: boolean;
  /** The workspace's currency. */
  workspaceCurrency: string;
  model: AttributionModel;
  /** Days. */
  window: number;
  /** Versions whose attributed shares may be in ClickHouse; this one too when a worker has begun to write its shares. */
  written: readonly WrittenShares[];
  /** Changes with the row. */
  rowVersion: string;
};

// The first half of the advisory locks that claim orders; the second is the order's number.
const CLAIM = 7_205;

/**
 * How long a worker has for writing shares that it has recorded. Afterwards another one may write them too, which changes
 * nothing: as after a kill, the newest version counts.
 */
export const CLAIMED_UNTIL = "clock_timestamp() + interval '20 seconds'";
/** SQL: whether no worker writes the shares of a row. */
export const IS_UNCLAIMED = '(claimed_until IS NULL OR claimed_until < now())';

/**
 * Claims orders older than the watermark whose version has no attributed shares, oldest first, until the transaction ends;
 * {@link recordShares} prolongs the claim. An order that was reported through the API waits until the watermark has passed that report too: an earlier identify may
 * still be on its way. Skips other workers' claims. Advisory locks, so that a lane never waits for an attribution.
 *
 * @param before microseconds: the watermark
 */
export async function claimUnattributed(
  transaction: Queryable,
  before: number,
  limit: number,
): Promise<UnattributedOrder[]> {
  const { rows } = await transaction.query<{
    internal_id: number;
    workspace_id: string;
    order_id: string;
    version: number;
    ts: number;
    stream_ordinal: number;
    visitor_id: string | null;
    other_visitor_ids: string[];
    email: string | null;
    amount_minor: number;
    currency: string;
    workspace_currency: string;
    attribution_model: AttributionModel;
    attribution_window: number;
    written_shares: WrittenShares[];
    is_given_up: boolean;
    row_version: string;
  }>(
    `WITH waiting AS MATERIALIZED (
       SELECT internal_id FROM orders
       WHERE attributed_version IS DISTINCT FROM version AND ts < $1 AND (reported_at IS NULL OR reported_at < $1)
         AND ${IS_UNCLAIMED}
       ORDER BY ts LIMIT $2 * 4
     ), claimed AS MATERIALIZED (
       SELECT internal_id FROM waiting WHERE pg_try_advisory_xact_lock($3, (internal_id % 2147483647)::int) LIMIT $2
     )
     SELECT o.internal_id, o.workspace_id, o.order_id, o.version, o.ts, o.stream_ordinal,
       coalesce(o.visitor_id, o.pixel_visitor_id, o.signup_visitor_id,
         ${visitorOfUser('o.workspace_id', 'o.external_user_id')}) AS visitor_id,
       o.other_visitor_ids, o.email,
       o.amount_minor, o.currency, workspace.currency AS workspace_currency, o.attribution_model,
       o.attribution_window, o.written_shares, o.same_as IS NOT NULL AS is_given_up, o.xmin::text AS row_version
     FROM claimed JOIN orders AS o USING (internal_id) JOIN workspaces AS workspace ON workspace.id = o.workspace_id
     ORDER BY o.ts`,
    [before, limit, CLAIM],
  );
  return rows.map((row) => ({
    internalId: row.internal_id,
    workspaceId: row.workspace_id,
    orderId: row.order_id,
    version: row.version,
    ts: row.ts,
    streamOrdinal: row.stream_ordinal,
    visitorId: row.visitor_id,
    otherVisitorIds: row.other_visitor_ids,
    email: row.email,
    amountMinor: row.amount_minor,
    currency: row.currency,
    isGivenUp: row.is_given_up,
    workspaceCurrency: row.workspace_currency,
    model: row.attribution_model,
    window: row.attribution_window,
    written: row.written_shares,
    rowVersion: row.row_version,
  }));
}

/** The shares that are about to be written for an order. */
export type SharesToWrite = {
  order: UnattributedOrder;
  /** Every version whose shares may be in ClickHouse then. */
  written: readonly WrittenShares[];
  /** Whether they are without revenue because no rate is set for the order's currency. */
  withoutRate: boolean;
};

/**
 * Records the shares of claimed orders that are about to be written, and prolongs the claim beyond the transaction. To be
 * committed before they are written.
 *
 * @returns the orders that have not changed since they were claimed; the shares of the others must not be written
 */
export async function recordShares(
  transaction: Queryable,
  orders: readonly SharesToWrite[],
): Promise<Set<number>> {
  if (orders.length === 0) return new Set();
  const { rows } = await transaction.query<{ internal_id: number }>(
    `UPDATE orders SET written_shares = about.written, without_rate = about.without_rate,
       claimed_until = ${CLAIMED_UNTIL}
     FROM unnest($1::bigint[], $2::text[], $3::jsonb[], $4::boolean[])
       AS about (internal_id, row_version, written, without_rate)
     WHERE orders.internal_id = about.internal_id AND orders.xmin::text = about.row_version
     RETURNING orders.internal_id`,
    [
      orders.map(({ order }) => order.internalId),
      orders.map(({ order }) => order.rowVersion),
      orders.map(({ written }) => JSON.stringify(written)),
      orders.map(({ withoutRate }) => withoutRate),
    ],
  );
  return new Set(rows.map((row) => row.internal_id));
}

/** Ends the claim of orders whose shares were not written. */
export async function releaseOrders(db: Queryable, internalIds: readonly number[]): Promise<void> {
  await db.query('UPDATE orders SET claimed_until = NULL WHERE internal_id = ANY ($1::bigint[])', [
    internalIds,
  ]);
}

/**
 * Records that the shares of these versions are in ClickHouse, and ends the claim. A newer version still waits for its
 * own.
 */
export async function markAttributed(
  db: Queryable,
  orders: readonly Pick<UnattributedOrder, 'internalId' | 'version'>[],
): Promise<void> {
  if (orders.length === 0) return;
  await db.query(
    `UPDATE orders SET attributed_version = done.version, claimed_until = NULL
     FROM unnest($1::bigint[], $2::bigint[]) AS done (internal_id, version)
     WHERE orders.internal_id = done.internal_id`,
    [orders.map((order) => order.internalId), orders.map((order) => order.version)],
  );
}
