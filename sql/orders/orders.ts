import type { EventSource } from '../../core/events/types.ts';
import type { Queryable } from '../database/pool.ts';
import { ORDINALS } from '../event-log/streams.ts';

/** One report of an order, as the event log carried it. */
export type OrderReport = {
  workspaceId: string;
  orderId: string;
  /** See `core/events/order-version.ts`. */
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
  /** Whom the buyer signed up as, for a report that names no visitor; only what came past the event log says so. */
  signupVisitorId?: string | null;
};

/** A report, with what another one of the same order adds to it. */
export type MergedReport = OrderReport & {
  /** Whom a pixel's report named, where the one that counts names no visitor. */
  pixelVisitorId: string | null;
};

/** SQL: the visitor that a pixel's report of an order named. */
const pixelVisitor = (row: string) =>
  `CASE ${row}.source WHEN 'pixel' THEN coalesce(${row}.visitor_id, ${row}.pixel_visitor_id) ELSE ${row}.pixel_visitor_id END`;
/** SQL: whether neither the report that counts nor another by the pixel has named a visitor. */
const wantsVisitor = (row: string) => `(${row}.visitor_id IS NULL AND ${row}.pixel_visitor_id IS NULL)`;
const WINS = 'EXCLUDED.version > known.version';
/** SQL: a column of the report that counts. */
const counting = (column: string) => `CASE WHEN ${WINS} THEN EXCLUDED.${column} ELSE known.${column} END`;
/** SQL: whether the one report adds its visitor to the other. */
const MERGES = `(NOT (${WINS}) OR (${wantsVisitor('EXCLUDED')} AND ${pixelVisitor('known')} IS NOT NULL))`;
const REPORTED = ['source', 'visitor_id', 'email', 'external_user_id', 'amount_minor', 'currency'];
export const LAST_ORDINAL = ORDINALS - 1;

/**
 * SQL: the assignments by which an order becomes a report of its own, a nanosecond before the one that `of` gives the
 * columns of, so of the version above, where the condition `when` holds.
 */
export function earlierReport(of: (column: string) => string, when = 'true'): string {
  const [version, ts, ordinal] = ['version', 'ts', 'stream_ordinal'].map(of);
  return `version = ${version} + (${when})::int,
    ts = ${ts} - (${when} AND ${ordinal} = 0)::int,
    stream_ordinal = CASE WHEN NOT (${when}) THEN ${ordinal} WHEN ${ordinal} = 0 THEN ${LAST_ORDINAL} ELSE ${ordinal} - 1 END`;
}

/**
 * Takes reports of orders in. Of several reports of one order the highest version stays. One that names no visitor
 * has the pixel's beside it, whichever came first: the thank-you page knows whose clicks led there, the server what was
 * paid. With that it is a report of its own, a nanosecond before the one that counts, so of the version above. An order
 * keeps the attribution model and window that its workspace had when the order was first seen. Reports of a workspace that
 * does not exist are left out.
 *
 * @returns the reports by which an order was first heard of
 */
export async function upsertOrders(
  transaction: Queryable,
  reports: readonly OrderReport[],
): Promise<MergedReport[]> {
  // One statement can't touch a row twice; a fixed order keeps two lanes from waiting for each other.
  const merged = mergedReports(reports);
  const rows = [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return [];
  const written = await transaction.query<{
    internal_id: number;
    workspace_id: string;
    order_id: string;
    is_new: boolean;
    is_merged: boolean;
  }>(
    `INSERT INTO orders AS known (workspace_id, order_id, version, source, ts, stream_ordinal, visitor_id,
       pixel_visitor_id, email, external_user_id, amount_minor, currency, signup_visitor_id, attribution_model,
       attribution_window)
     SELECT workspace.id, report.order_id, report.version, report.source, report.ts, report.stream_ordinal,
       report.visitor_id, report.pixel_visitor_id, report.email, report.external_user_id, report.amount_minor,
       report.currency, report.signup_visitor_id, workspace.attribution_model, workspace.attribution_window
     FROM unnest($1::uuid[], $2::text[], $3::numeric[], $4::text[], $5::bigint[], $6::smallint[], $7::uuid[],
       $8::uuid[], $9::text[], $10::text[], $11::bigint[], $12::text[], $13::uuid[]) WITH ORDINALITY
       AS report (workspace_id, order_id, version, source, ts, stream_ordinal, visitor_id, pixel_visitor_id, email,
         external_user_id, amount_minor, currency, signup_visitor_id, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, order_id) DO UPDATE
       SET ${REPORTED.map((column) => `${column} = ${counting(column)}`)},
           pixel_visitor_id = CASE WHEN NOT (${WINS}) THEN ${pixelVisitor('EXCLUDED')}
             WHEN EXCLUDED.visitor_id IS NULL THEN coalesce(EXCLUDED.pixel_visitor_id, ${pixelVisitor('known')}) END,
           signup_visitor_id = CASE WHEN NOT ${MERGES} THEN ${counting('signup_visitor_id')} END,
           ${earlierReport(counting, MERGES)}
       WHERE ${WINS} OR (${wantsVisitor('known')} AND ${pixelVisitor('EXCLUDED')} IS NOT NULL)
     RETURNING internal_id, workspace_id, order_id, xmax = 0 AS is_new, pixel_visitor_id IS NOT NULL AS is_merged`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.orderId),
      rows.map((row) => String(row.version)),
      rows.map((row) => row.source),
      rows.map((row) => row.ts),
      rows.map((row) => row.streamOrdinal),
      rows.map((row) => row.visitorId),
      rows.map((row) => row.pixelVisitorId),
      rows.map((row) => row.email),
      rows.map((row) => row.externalUserId),
      rows.map((row) => row.amountMinor),
      rows.map((row) => row.currency),
      rows.map((row) => row.signupVisitorId ?? null),
    ],
  );
  // The event log carries each report by itself: what they are together goes to ClickHouse from here.
  await queuePublications(
    transaction,
    written.rows.filter((row) => row.is_merged).map((row) => row.internal_id),
  );
  // A row that an update has touched carries that update's transaction.
  return written.rows
    .filter((row) => row.is_new)
    .flatMap((row) => merged.get(`${row.workspace_id}/${row.order_id}`) ?? []);
}

/** Writes an order that is not known yet. @returns false when it is: another report has just written it */
export async function insertOrder(tx: Queryable, report: OrderReport): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO orders (workspace_id, order_id, version, source, ts, stream_ordinal, visitor_id, email,
       external_user_id, amount_minor, currency, signup_visitor_id, attribution_model, attribution_window)
     SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, attribution_model, attribution_window
     FROM workspaces WHERE id = $1 ON CONFLICT (workspace_id, order_id) DO NOTHING`,
    [
      report.workspaceId,
      report.orderId,
      String(report.version),
      report.source,
      report.ts,
      report.streamOrdinal,
      report.visitorId,
      report.email,
      report.externalUserId,
      report.amountMinor,
      report.currency,
      report.signupVisitorId ?? null,
    ],
  );
  return rowCount === 1;
}

/** The reports of each order as one, by workspace and order. */
function mergedReports(reports: readonly OrderReport[]): Map<string, MergedReport> {
  const byOrder = Map.groupBy(reports, (report) => `${report.workspaceId}/${report.orderId}`);
  return new Map([...byOrder].map(([key, own]) => [key, mergedReport(own)]));
}

function mergedReport(reports: readonly OrderReport[]): MergedReport {
  const [best, ...others] = [...reports].sort((a, b) => (a.version > b.version ? -1 : 1));
  if (!best) throw new Error('no report to merge');
  const byPixel = others.find((report) => report.source === 'pixel' && report.visitorId !== null);
  if (best.visitorId !== null || !byPixel) return { ...best, pixelVisitorId: null };
  const { version, ts, streamOrdinal: ordinal } = best;
  return {
    ...best,
    version: version + 1n,
    ts: ordinal === 0 ? ts - 1 : ts,
    streamOrdinal: ordinal === 0 ? LAST_ORDINAL : ordinal - 1,
    pixelVisitorId: byPixel.visitorId,
  };
}

/** Has ClickHouse given these orders as they stand now. */
export async function queuePublications(tx: Queryable, internalIds: readonly number[]): Promise<void> {
  if (internalIds.length === 0) return;
  await tx.query(
    `INSERT INTO order_publications (order_internal_id) SELECT unnest($1::bigint[])
     ON CONFLICT (order_internal_id) DO NOTHING`,
    [internalIds],
  );
}
