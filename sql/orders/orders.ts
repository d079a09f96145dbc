import type { EventSource } from '../../core/events/types.ts';
import type { Queryable } from '../database/pool.ts';
import { queuePublications } from './publications.ts';

/** The source of a report of an order; `imported`: an import of history. */
export type OrderSource = EventSource | 'imported';

/** One report of an order. */
export type OrderReport = {
  workspaceId: string;
  orderId: string;
  source: EventSource;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
  visitorId: string | null;
  /** Earlier ids of the same browser, reported together with `visitorId`; left out: none. */
  otherVisitorIds?: readonly string[];
  /** Lower case. */
  email: string | null;
  externalUserId: string | null;
  amountMinor: number;
  currency: string;
  /** The part of the amount that earns commission; null or left out: all of it. */
  commissionableMinor?: number | null;
  isRenewal?: boolean;
  /** The visitor of the buyer's signup, for a server's report that names no visitor; not known from the event log. */
  signupVisitorId?: string | null;
};

/** A report, with what another report of the same order adds to it. */
export type MergedReport = OrderReport & {
  /** The visitor that a pixel reported, when the report that counts names none. */
  pixelVisitorId: string | null;
};

/** SQL: the next version of a row of `orders`. See the comment on the column. */
export const nextVersion = (row: string) =>
  `greatest(${row}.version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`;

/** SQL: the visitor that a pixel's report of an order named. */
const pixelVisitor = (row: string) =>
  `CASE ${row}.source WHEN 'pixel' THEN coalesce(${row}.visitor_id, ${row}.pixel_visitor_id) ELSE ${row}.pixel_visitor_id END`;
/** SQL: whether neither the report that counts nor another by the pixel has named a visitor. */
const wantsVisitor = (row: string) => `(${row}.visitor_id IS NULL AND ${row}.pixel_visitor_id IS NULL)`;
/**
 * SQL: the rank of a report. A server's report beats the pixel's, which beats an imported one; then the earliest wins.
 * Times are unique in a deployment.
 */
const rank = (row: string) =>
  `(array_position('{server,pixel,imported}'::text[], ${row}.source), ${row}.ts, ${row}.stream_ordinal)`;
const WINS = `${rank('EXCLUDED')} < ${rank('known')}`;
/** SQL: the other ids of the browser from the report whose visitor the order keeps. */
const OTHER_VISITORS = `CASE WHEN ${WINS} AND ${wantsVisitor('EXCLUDED')} AND ${pixelVisitor('known')} IS NOT NULL
  THEN known.other_visitor_ids ELSE EXCLUDED.other_visitor_ids END`;
/** SQL: a column of the report that counts. */
const counting = (column: string) => `CASE WHEN ${WINS} THEN EXCLUDED.${column} ELSE known.${column} END`;
/** SQL: whether the one report adds its visitor to the other. */
const MERGES = `(NOT (${WINS}) OR (${wantsVisitor('EXCLUDED')} AND ${pixelVisitor('known')} IS NOT NULL))`;
const REPORTED = [
  'source',
  'ts',
  'stream_ordinal',
  'visitor_id',
  'email',
  'external_user_id',
  'amount_minor',
  'currency',
  'commissionable_minor',
  'is_renewal',
];

/**
 * Stores reports of orders, and queues changed orders for ClickHouse. Only one of several reports of an order counts: a
 * server's before the pixel's, then the earliest. If that report names no visitor, the order also keeps the visitor of
 * the pixel's report: the server knows the amount, and the thank-you page knows the visitor whose clicks led there. An
 * order keeps the attribution model and window that its workspace had at the first report. Leaves out reports of
 * unknown workspaces, and of orders that another order of the same payment replaces.
 *
 * @returns the reports of orders that were not known, and a server's reports that replaced the pixel's
 */
export async function upsertOrders(
  transaction: Queryable,
  reports: readonly OrderReport[],
): Promise<{ created: MergedReport[]; replaced: MergedReport[] }> {
  // One statement can't update a row twice. A fixed order keeps two lanes from deadlocking.
  const merged = mergedReports(reports);
  const rows = [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report);
  if (rows.length === 0) return { created: [], replaced: [] };
  const written = await transaction.query<{
    internal_id: number;
    workspace_id: string;
    order_id: string;
    pixel_visitor_id: string | null;
    old_source: OrderSource | null;
    source: OrderSource;
  }>(
    `INSERT INTO orders AS known (workspace_id, order_id, source, ts, stream_ordinal, visitor_id, pixel_visitor_id,
       email, external_user_id, amount_minor, currency, commissionable_minor, is_renewal, signup_visitor_id,
       attribution_model, attribution_window, other_visitor_ids)
     SELECT workspace.id, report.order_id, report.source, report.ts, report.stream_ordinal,
       report.visitor_id, report.pixel_visitor_id, report.email, report.external_user_id, report.amount_minor,
       report.currency, report.commissionable_minor, report.is_renewal, report.signup_visitor_id,
       workspace.attribution_model, workspace.attribution_window, report.other_visitor_ids::uuid[]
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::smallint[], $6::uuid[], $7::uuid[],
       $8::text[], $9::text[], $10::bigint[], $11::text[], $12::uuid[], $13::bigint[], $14::boolean[],
       $15::text[]) WITH ORDINALITY
       AS report (workspace_id, order_id, source, ts, stream_ordinal, visitor_id, pixel_visitor_id, email,
         external_user_id, amount_minor, currency, signup_visitor_id, commissionable_minor, is_renewal,
         other_visitor_ids, position)
     JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ORDER BY report.position
     ON CONFLICT (workspace_id, order_id) DO UPDATE
       SET ${REPORTED.map((column) => `${column} = ${counting(column)}`)},
           pixel_visitor_id = CASE WHEN NOT (${WINS}) THEN ${pixelVisitor('EXCLUDED')}
             WHEN EXCLUDED.visitor_id IS NULL THEN coalesce(EXCLUDED.pixel_visitor_id, ${pixelVisitor('known')}) END,
           other_visitor_ids = ${OTHER_VISITORS},
           signup_visitor_id = CASE WHEN NOT ${MERGES} THEN ${counting('signup_visitor_id')} END,
           import_id = NULL, link_id = NULL,
           version = ${nextVersion('known')}
       WHERE known.same_as IS NULL AND (${WINS} OR (${wantsVisitor('known')} AND ${pixelVisitor('EXCLUDED')} IS NOT NULL))
     RETURNING internal_id, workspace_id, order_id, known.pixel_visitor_id, old.source AS old_source, known.source`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.orderId),
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
      rows.map((row) => row.commissionableMinor ?? null),
      rows.map((row) => row.isRenewal ?? false),
      rows.map((row) => `{${(row.otherVisitorIds ?? []).join()}}`),
    ],
  );
  await queuePublications(
    transaction,
    written.rows.map((row) => row.internal_id),
  );
  const reportsOf = (changed: typeof written.rows) =>
    changed.flatMap((row) => {
      const report = merged.get(`${row.workspace_id}/${row.order_id}`);
      return report ? [{ ...report, pixelVisitorId: row.pixel_visitor_id }] : [];
    });
  return {
    created: reportsOf(
      written.rows.filter(({ old_source }) => old_source === null || old_source === 'imported'),
    ),
    replaced: reportsOf(written.rows.filter((row) => row.old_source === 'pixel' && row.source === 'server')),
  };
}

/** Inserts an order that is not known yet. @returns false when another report has just inserted it */
export async function insertOrder(tx: Queryable, report: OrderReport): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO orders (workspace_id, order_id, source, ts, stream_ordinal, visitor_id, email, external_user_id,
       amount_minor, currency, signup_visitor_id, commissionable_minor, is_renewal, other_visitor_ids,
       attribution_model, attribution_window)
     SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, attribution_model, attribution_window
     FROM workspaces WHERE id = $1 ON CONFLICT (workspace_id, order_id) DO NOTHING`,
    [
      report.workspaceId,
      report.orderId,
      report.source,
      report.ts,
      report.streamOrdinal,
      report.visitorId,
      report.email,
      report.externalUserId,
      report.amountMinor,
      report.currency,
      report.signupVisitorId ?? null,
      report.commissionableMinor ?? null,
      report.isRenewal ?? false,
      report.otherVisitorIds ?? [],
    ],
  );
  return rowCount === 1;
}

/** Merges the reports of each order. Keyed by workspace and order. */
function mergedReports(reports: readonly OrderReport[]): Map<string, MergedReport> {
  const byOrder = Map.groupBy(reports, (report) => `${report.workspaceId}/${report.orderId}`);
  return new Map([...byOrder].map(([key, own]) => [key, mergedReport(own)]));
}

function mergedReport(reports: readonly OrderReport[]): MergedReport {
  const [best, ...others] = [...reports].sort(
    (a, b) => rankOf(a) - rankOf(b) || a.ts - b.ts || a.streamOrdinal - b.streamOrdinal,
  );
  if (!best) throw new Error('no report to merge');
  const byPixel = others.find((report) => report.source === 'pixel' && report.visitorId !== null);
  if (best.visitorId !== null || !byPixel) return { ...best, pixelVisitorId: null };
  return { ...best, pixelVisitorId: byPixel.visitorId, otherVisitorIds: byPixel.otherVisitorIds ?? [] };
}

const rankOf = ({ source }: OrderReport) => (source === 'server' ? 0 : 1);
