import type { EventSource } from '../core/events/types.ts';
import type { Queryable } from './pool.ts';
import type { AttributionModel } from './workspaces.ts';

/** One report of an order, as the event log carried it. */
export type OrderReport = {
  workspaceId: string;
  orderId: string;
  /** See `core/order-version.ts`. */
  version: bigint;
  source: EventSource;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
  visitorId: string | null;
  /** Lower case. */
  email: string | null;
  externalUserId: string | null;
  amountMinor: number;
  currency: string;
};

/**
 * Takes reports of orders in. Of several reports of one order the highest version stays. An order keeps the
 * attribution model and window that its workspace had when the order was first seen. Reports of a workspace
 * that does not exist are left out.
 *
 * @returns the reports by which an order was first heard of
 */
export async function upsertOrders(
  transaction: Queryable,
  reports: readonly OrderReport[],
): Promise<OrderReport[]> {
  const best = new Map<string, OrderReport>();
  for (const report of reports) {
    const key = `${report.workspaceId}/${report.orderId}`;
    const known = best.get(key);
    // One statement can't touch a row twice; a fixed order keeps two lanes from waiting for each other.
    if (!known || report.version > known.version) best.set(key, report);
  }
  const rows = [...best].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return [];
  const written = await transaction.query<{ workspace_id: string; order_id: string; is_new: boolean }>(
    `INSERT INTO orders AS known (workspace_id, order_id, version, source, ts, stream_ordinal, visitor_id, email,
       external_user_id, amount_minor, currency, attribution_model, attribution_window)
     SELECT workspace.id, report.order_id, report.version, report.source, report.ts, report.stream_ordinal,
       report.visitor_id, report.email, report.external_user_id, report.amount_minor, report.currency,
       workspace.attribution_model, workspace.attribution_window
     FROM unnest($1::uuid[], $2::text[], $3::numeric[], $4::text[], $5::bigint[], $6::smallint[], $7::uuid[],
       $8::text[], $9::text[], $10::bigint[], $11::text[]) WITH ORDINALITY
       AS report (workspace_id, order_id, version, source, ts, stream_ordinal, visitor_id, email,
         external_user_id, amount_minor, currency, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, order_id) DO UPDATE
       SET version = EXCLUDED.version, source = EXCLUDED.source, ts = EXCLUDED.ts,
           stream_ordinal = EXCLUDED.stream_ordinal, visitor_id = EXCLUDED.visitor_id, email = EXCLUDED.email,
           external_user_id = EXCLUDED.external_user_id, amount_minor = EXCLUDED.amount_minor,
           currency = EXCLUDED.currency
       WHERE EXCLUDED.version > known.version
     RETURNING workspace_id, order_id, xmax = 0 AS is_new`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.orderId),
      rows.map((row) => String(row.version)),
      rows.map((row) => row.source),
      rows.map((row) => row.ts),
      rows.map((row) => row.streamOrdinal),
      rows.map((row) => row.visitorId),
      rows.map((row) => row.email),
      rows.map((row) => row.externalUserId),
      rows.map((row) => row.amountMinor),
      rows.map((row) => row.currency),
    ],
  );
  // A row that an update has touched carries that update's transaction.
  return written.rows
    .filter((row) => row.is_new)
    .flatMap((row) => best.get(`${row.workspace_id}/${row.order_id}`) ?? []);
}

/** An order that waits for attribution. */
export type UnattributedOrder = {
  internalId: number;
  workspaceId: string;
  orderId: string;
  version: bigint;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
  visitorId: string | null;
  email: string | null;
  amountMinor: number;
  currency: string;
  /** The workspace's currency. */
  workspaceCurrency: string;
  model: AttributionModel;
  /** Days. */
  window: number;
  /**
   * Versions of the order whose credits may stand in ClickHouse, each with its number of parts; null: nobody noted how many.
   * The present version is among them when a worker has begun to write its credits before.
   */
  noted: ReadonlyMap<bigint, number | null>;
  /** Another one once anything about the order has changed. */
  rowVersion: string;
};

// The first half of the advisory locks that claim orders; the second is the order's number.
const CLAIM = 7_205;

/**
 * Claims orders older than the watermark whose present version has no credits yet, oldest first, until the
 * transaction ends. Other workers' claims are passed over. An advisory lock, not the row's: a lane that takes in
 * another report of the order must never wait for an attribution.
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
    version: string;
    ts: number;
    stream_ordinal: number;
    visitor_id: string | null;
    email: string | null;
    amount_minor: number;
    currency: string;
    workspace_currency: string;
    attribution_model: AttributionModel;
    attribution_window: number;
    attributed_version: string | null;
    noted_credits: Record<string, number> | null;
    row_version: string;
  }>(
    `WITH waiting AS MATERIALIZED (
       SELECT internal_id FROM orders
       WHERE attributed_version IS DISTINCT FROM version AND ts < $1 ORDER BY ts LIMIT $2 * 4
     ), claimed AS MATERIALIZED (
       SELECT internal_id FROM waiting WHERE pg_try_advisory_xact_lock($3, (internal_id % 2147483647)::int) LIMIT $2
     )
     SELECT o.internal_id, o.workspace_id, o.order_id, o.version, o.ts, o.stream_ordinal, o.visitor_id, o.email,
       o.amount_minor, o.currency, workspace.currency AS workspace_currency, o.attribution_model,
       o.attribution_window, o.attributed_version, o.noted_credits, o.xmin::text AS row_version
     FROM claimed JOIN orders AS o USING (internal_id) JOIN workspaces AS workspace ON workspace.id = o.workspace_id
     ORDER BY o.ts`,
    [before, limit, CLAIM],
  );
  return rows.map((row) => ({
    internalId: row.internal_id,
    workspaceId: row.workspace_id,
    orderId: row.order_id,
    version: BigInt(row.version),
    ts: row.ts,
    streamOrdinal: row.stream_ordinal,
    visitorId: row.visitor_id,
    email: row.email,
    amountMinor: row.amount_minor,
    currency: row.currency,
    workspaceCurrency: row.workspace_currency,
    model: row.attribution_model,
    window: row.attribution_window,
    noted: notedOf(row.noted_credits, row.attributed_version),
    rowVersion: row.row_version,
  }));
}

/** Orders that were attributed before anything was noted have one version there, the last one. */
function notedOf(
  noted: Record<string, number> | null,
  attributedVersion: string | null,
): ReadonlyMap<bigint, number | null> {
  if (noted === null) return new Map(attributedVersion === null ? [] : [[BigInt(attributedVersion), null]]);
  return new Map(Object.entries(noted).map(([version, parts]) => [BigInt(version), parts]));
}

/**
 * Notes versions of claimed orders whose credits are about to be written, each with its number of parts. To be committed before
 * they are written.
 *
 * @returns the orders that are as they were claimed: of the others nothing was noted, and their credits must not be written
 */
export async function noteCredits(
  db: Queryable,
  orders: readonly { order: UnattributedOrder; noted: ReadonlyMap<bigint, number> }[],
): Promise<Set<number>> {
  if (orders.length === 0) return new Set();
  const { rows } = await db.query<{ internal_id: number }>(
    `UPDATE orders SET noted_credits = about.noted
     FROM unnest($1::bigint[], $2::text[], $3::jsonb[]) AS about (internal_id, row_version, noted)
     WHERE orders.internal_id = about.internal_id AND orders.xmin::text = about.row_version
     RETURNING orders.internal_id`,
    [
      orders.map(({ order }) => order.internalId),
      orders.map(({ order }) => order.rowVersion),
      orders.map(({ noted }) =>
        JSON.stringify(Object.fromEntries([...noted].map(([version, parts]) => [String(version), parts]))),
      ),
    ],
  );
  return new Set(rows.map((row) => row.internal_id));
}

/** Notes that the credits of these versions stand in ClickHouse. A newer version still waits for its own. */
export async function markAttributed(
  transaction: Queryable,
  orders: readonly Pick<UnattributedOrder, 'internalId' | 'version'>[],
): Promise<void> {
  await transaction.query(
    `UPDATE orders SET attributed_version = done.version
     FROM unnest($1::bigint[], $2::numeric[]) AS done (internal_id, version)
     WHERE orders.internal_id = done.internal_id`,
    [orders.map((order) => order.internalId), orders.map((order) => String(order.version))],
  );
}
