import type { ClickDetails } from '../../core/click-fields.ts';
import type { ClickHouseClient } from '../client.ts';
import { ask } from './ask.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** A step of a visitor. `tsNanos` is unique in the deployment. */
export type JourneyStep =
  | { type: 'click'; tsNanos: bigint; channel: string; linkId: string; details: ClickDetails }
  | { type: 'identify'; tsNanos: bigint; email: string }
  | { type: 'order'; tsNanos: bigint; amountMinor: bigint; currency: string };

/** A visitor as a whole, also where the journey is cut. */
export type VisitorSummary = {
  /** The newest one that the visitor gave, or that came with an order of theirs; null: none. */
  email: string | null;
  firstSeenNanos: bigint;
  lastSeenNanos: bigint;
};

/** Stands in `visitor_id` of identifies and orders without a visitor. It is nobody. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * What belongs to the visitor, as subqueries: clicks (the bots' own too: they are asked for by the id that a stream
 * with `bots=include` showed), identifies, and of each order the version that counts, when the visitor made it or
 * when it came without a visitor and with an email that the visitor had given.
 *
 * The orders are found by their skip indexes first and read by their key then: an earlier version may name another
 * visitor, so `FINAL` must see every version of the order before the visitor is compared.
 */
const OWN = `
  WITH
    emails AS (SELECT DISTINCT email FROM identifies
      WHERE workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID} AND email != ''),
    own_orders AS (SELECT * FROM orders FINAL
      WHERE workspace_id = {workspace:UUID} AND order_id IN (
          SELECT order_id FROM orders WHERE workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID}
          UNION DISTINCT
          SELECT order_id FROM orders WHERE workspace_id = {workspace:UUID} AND email IN (SELECT email FROM emails))
        AND (visitor_id = {visitor:UUID} OR (visitor_id = toUUID('${NOBODY}') AND email IN (SELECT email FROM emails)))),
    own_identifies AS (SELECT * FROM identifies FINAL
      WHERE workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID})`;

/** A visitor of the workspace as a whole, also where the steps are cut; null: there is no step. */
async function visitorSummary(
  client: ClickHouseClient,
  workspaceId: string,
  visitorId: string,
): Promise<VisitorSummary | null> {
  const [row] = await ask<{ steps: string; first: string; last: string; email: string }>(client, {
    sql: `${OWN}
      SELECT count() AS steps, toUnixTimestamp64Nano(min(ts)) AS first, toUnixTimestamp64Nano(max(ts)) AS last,
        argMaxIf(email, (rank, ts), email != '') AS email
      FROM (
        SELECT ts, '' AS email, 0 AS rank FROM clicks
        WHERE workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID} ${NOT_DELETED}
        UNION ALL SELECT ts, email, 2 FROM own_identifies
        UNION ALL SELECT ts, email, 1 FROM own_orders)`,
    params: { workspace: workspaceId, visitor: visitorId },
    seconds: 20,
  });
  if (!row || Number(row.steps) === 0) return null;
  return {
    email: row.email === '' ? null : row.email,
    firstSeenNanos: BigInt(row.first),
    lastSeenNanos: BigInt(row.last),
  };
}

/**
 * The newest steps of a visitor, oldest first, and the visitor as a whole; null when the workspace has no click,
 * identify or order of that visitor. A visitor with more than `limit` steps has lost the oldest.
 */
export async function visitorJourney(
  client: ClickHouseClient,
  workspaceId: string,
  visitorId: string,
  limit: number,
): Promise<{ summary: VisitorSummary; steps: JourneyStep[] } | null> {
  if (visitorId.toLowerCase() === NOBODY) return null;
  const rows = await ask<StepRow>(client, {
    sql: `${OWN}
      SELECT type, toUnixTimestamp64Nano(ts) AS nanos, channel, link_id, details, email, amount, currency FROM (
        SELECT 'click' AS type, ts, toString(channel) AS channel, link_id,
          [toString(country), toString(city), toString(device), toString(browser), toString(os), referer] AS details,
          '' AS email, toInt64(0) AS amount, '' AS currency
        FROM clicks WHERE workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID} ${NOT_DELETED}
        ORDER BY ts DESC LIMIT {limit:UInt32}
        UNION ALL
        SELECT 'identify', ts, '', toUUID('${NOBODY}'), [], email, 0, '' FROM own_identifies
        UNION ALL
        SELECT 'order', ts, '', toUUID('${NOBODY}'), [], email, amount_minor, toString(currency) FROM own_orders)
      ORDER BY ts DESC LIMIT {limit:UInt32}`,
    params: { workspace: workspaceId, visitor: visitorId, limit },
    seconds: 20,
  });
  // Nearly every journey is whole: asking for the visitor too would read the same once more.
  const summary =
    rows.length < limit ? summaryOf(rows) : await visitorSummary(client, workspaceId, visitorId);
  return summary && { summary, steps: rows.map(toStep).reverse() };
}

/** Of all steps, the newest first. An email that the visitor gave counts before one that came with an order. */
function summaryOf(rows: readonly StepRow[]): VisitorSummary | null {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (!newest || !oldest) return null;
  const given = (type: StepRow['type']) => rows.find((row) => row.type === type && row.email !== '')?.email;
  return {
    email: given('identify') ?? given('order') ?? null,
    firstSeenNanos: BigInt(oldest.nanos),
    lastSeenNanos: BigInt(newest.nanos),
  };
}

type StepRow = {
  type: JourneyStep['type'];
  nanos: string;
  channel: string;
  link_id: string;
  /** Of a click: country, city, device, browser, os, referer. */
  details: string[];
  /** Of an identify or an order; empty: none. */
  email: string;
  amount: string;
  currency: string;
};

function toStep(row: StepRow): JourneyStep {
  const tsNanos = BigInt(row.nanos);
  switch (row.type) {
    case 'click': {
      const [country = '', city = '', device = '', browser = '', os = '', referer = ''] = row.details;
      const details = { country, city, device, browser, os, referer };
      return { type: row.type, tsNanos, channel: row.channel, linkId: row.link_id, details };
    }
    case 'identify':
      return { type: row.type, tsNanos, email: row.email };
    case 'order':
      return { type: row.type, tsNanos, amountMinor: BigInt(row.amount), currency: row.currency };
  }
}
