import { type ClickDetails, DETAIL_NAMES } from '../../core/clicks/field-names.ts';
import type { ClickHouseClient } from '../client.ts';
import { byVisitorParams, CLICKS_OF_VISITOR } from '../rollups/clicks-by-visitor.ts';
import { runQuery } from './run-query.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** A step of a visitor. `tsNanos` is unique in the deployment. */
export type JourneyStep =
  | { type: 'click'; tsNanos: bigint; channel: string; linkId: string; details: ClickDetails }
  | { type: 'identify'; tsNanos: bigint; email: string }
  | { type: 'order'; tsNanos: bigint; amountMinor: bigint; currency: string };

/** The visitor over all steps, also when the journey is cut. */
export type VisitorSummary = {
  /** The newest one that the visitor gave, else the newest of an order; null: none. */
  email: string | null;
  firstSeenNanos: bigint;
  lastSeenNanos: bigint;
};

/** The `visitor_id` of identifies and orders without a visitor. */
const NO_VISITOR = '00000000-0000-0000-0000-000000000000';

const OF_VISITOR = 'workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID}';
/**
 * Reported by a browser that had this id before. Apart from {@link OF_VISITOR}: each condition has an index of its own.
 */
const OF_BROWSER = 'workspace_id = {workspace:UUID} AND has(other_visitor_ids, {visitor:UUID})';

/** A subquery of the identifies of the visitor. */
const IDENTIFIES_OF_VISITOR = `(SELECT ts, email, external_user_id FROM identifies WHERE ${OF_VISITOR}
  UNION ALL SELECT ts, email, external_user_id FROM identifies WHERE ${OF_BROWSER})`;

/**
 * Subqueries of what belongs to the visitor besides clicks: identifies, and of each order the version that counts, when
 * the visitor made it, or when it has no visitor but an email or a user that the visitor gave.
 *
 * Orders are found by their skip indexes, then read by their key: an earlier version may name another visitor, so
 * `FINAL` must see every version before the visitor is compared. Identifies need no `FINAL`: rows of one that was
 * inserted twice are equal.
 */
const OWN = `
  WITH
    emails AS (SELECT DISTINCT email FROM ${IDENTIFIES_OF_VISITOR} WHERE email != ''),
    users AS (SELECT DISTINCT external_user_id FROM ${IDENTIFIES_OF_VISITOR} WHERE external_user_id != ''),
    own_orders AS (SELECT * FROM orders FINAL
      WHERE workspace_id = {workspace:UUID} AND order_id IN (
          SELECT order_id FROM orders WHERE ${OF_VISITOR}
          UNION DISTINCT
          SELECT order_id FROM orders WHERE ${OF_BROWSER}
          UNION DISTINCT
          SELECT order_id FROM orders WHERE workspace_id = {workspace:UUID} AND email IN (SELECT email FROM emails)
          UNION DISTINCT
          SELECT order_id FROM orders WHERE workspace_id = {workspace:UUID}
            AND external_user_id IN (SELECT external_user_id FROM users))
        AND (visitor_id = {visitor:UUID} OR has(other_visitor_ids, {visitor:UUID}) OR (visitor_id = toUUID('${NO_VISITOR}')
          AND (email IN (SELECT email FROM emails) OR external_user_id IN (SELECT external_user_id FROM users))))),
    own_identifies AS ${IDENTIFIES_OF_VISITOR}`;

/** Includes bots: a journey may be of a visitor that `bots=include` showed. */
const clicks = (hasDeletedLinks: boolean) => ({
  sql: `SELECT 'click' AS type, toUnixTimestamp64Nano(ts) AS nanos, channel, link_id, ${DETAIL_NAMES.join(', ')}
    FROM clicks WHERE ${CLICKS_OF_VISITOR} AND NOT is_orphan ${hasDeletedLinks ? NOT_DELETED : ''} ORDER BY ts DESC LIMIT {limit:UInt32}`,
  seconds: 20,
  // The clicks are few and far apart: in the order of the table each part would be read alone.
  settings: { optimize_read_in_order: 0 } as const,
});

/** Selects identifies, and a row of type `has orders` when any version of an order names the visitor. */
const IDENTIFIES = {
  sql: `
    SELECT * FROM (SELECT DISTINCT 'identify' AS type, toUnixTimestamp64Nano(ts) AS nanos, email, external_user_id AS user
      FROM ${IDENTIFIES_OF_VISITOR} ORDER BY nanos DESC LIMIT {limit:UInt32})
    UNION ALL SELECT * FROM (SELECT 'has orders', 0, '', '' FROM orders WHERE ${OF_VISITOR} LIMIT 1)
    UNION ALL SELECT * FROM (SELECT 'has orders', 0, '', '' FROM orders WHERE ${OF_BROWSER} LIMIT 1)`,
  seconds: 20,
};

const ORDERS = {
  sql: `${OWN}
    SELECT 'order' AS type, toUnixTimestamp64Nano(ts) AS nanos, email, amount_minor AS amount, currency FROM own_orders
    ORDER BY ts DESC LIMIT {limit:UInt32}`,
  seconds: 20,
};

/** Returns the visitor over all steps, including those beyond the limit; null when there is no step. */
async function visitorSummary(
  client: ClickHouseClient,
  workspaceId: string,
  visitorId: string,
): Promise<VisitorSummary | null> {
  const [row] = await runQuery<{ steps: string; first: string; last: string; email: string }>(client, {
    sql: `${OWN}
      SELECT count() AS steps, toUnixTimestamp64Nano(min(ts)) AS first, toUnixTimestamp64Nano(max(ts)) AS last,
        argMaxIf(email, (rank, ts), email != '') AS email
      FROM (
        SELECT ts, '' AS email, 0 AS rank FROM clicks
        WHERE ${CLICKS_OF_VISITOR} AND NOT is_orphan ${NOT_DELETED}
        UNION ALL SELECT ts, email, 2 FROM own_identifies
        UNION ALL SELECT ts, email, 1 FROM own_orders)`,
    params: { workspace: workspaceId, visitor: visitorId, ...(await byVisitorParams(client)) },
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
 * Returns the newest steps of a visitor, oldest first, and the visitor over all steps; null when the workspace has no
 * click, identify or order of the visitor. Of more than `limit` steps the oldest are left out.
 *
 * @param of.hasDeletedLinks whether the workspace has deleted links, whose clicks are left out
 */
export async function visitorJourney(
  client: ClickHouseClient,
  of: { workspaceId: string; visitorId: string; hasDeletedLinks: boolean },
  limit: number,
): Promise<{ summary: VisitorSummary; steps: JourneyStep[] } | null> {
  const { workspaceId, visitorId } = of;
  if (visitorId.toLowerCase() === NO_VISITOR) return null;
  const params = { workspace: workspaceId, visitor: visitorId, limit };
  const [clicked, others] = await Promise.all([
    clicksOf(client, of.hasDeletedLinks, params),
    identifiesAndOrders(client, params),
  ]);
  const rows = newestOf([...clicked, ...others], limit);
  // Most journeys are not cut, and say everything about the visitor.
  const summary =
    rows.length < limit ? summaryOf(rows) : await visitorSummary(client, workspaceId, visitorId);
  return summary && { summary, steps: rows.map(toStep).reverse() };
}

type Params = { workspace: string; visitor: string; limit: number };

async function clicksOf(
  client: ClickHouseClient,
  hasDeletedLinks: boolean,
  params: Params,
): Promise<ClickStep[]> {
  const unlisted = await byVisitorParams(client);
  return runQuery<ClickStep>(client, { ...clicks(hasDeletedLinks), params: { ...params, ...unlisted } });
}

async function identifiesAndOrders(client: ClickHouseClient, params: Params): Promise<OtherStep[]> {
  const found = await runQuery<IdentifyStep | { type: 'has orders' }>(client, { ...IDENTIFIES, params });
  const identifies = found.filter((row) => row.type === 'identify');
  // Few visitors have orders, and finding orders takes several reads.
  const mayHaveOrders =
    identifies.length < found.length || identifies.some(({ email, user }) => email !== '' || user !== '');
  return mayHaveOrders
    ? [...identifies, ...(await runQuery<OrderStep>(client, { ...ORDERS, params }))]
    : identifies;
}

function newestOf(steps: readonly StepRow[], limit: number): StepRow[] {
  const timed = steps.map((row) => ({ row, at: BigInt(row.nanos) }));
  // Imported times may be equal: then an identify comes before its order.
  timed.sort((a, b) => Number(b.at - a.at) || (a.row.type < b.row.type ? 1 : -1));
  return timed.slice(0, limit).map(({ row }) => row);
}

/** Returns the visitor over all steps, given newest first. An email that the visitor gave wins over one of an order. */
function summaryOf(rows: readonly StepRow[]): VisitorSummary | null {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (!newest || !oldest) return null;
  const others = rows.filter((row) => row.type !== 'click');
  const given = (type: OtherStep['type']) =>
    others.find((row) => row.type === type && row.email !== '')?.email;
  return {
    email: given('identify') ?? given('order') ?? null,
    firstSeenNanos: BigInt(oldest.nanos),
    lastSeenNanos: BigInt(newest.nanos),
  };
}

type ClickStep = { type: 'click'; nanos: string; channel: string; link_id: string } & ClickDetails;
/** `email`, here and below; empty: none. */
type IdentifyStep = { type: 'identify'; nanos: string; email: string; user: string };
type OrderStep = { type: 'order'; nanos: string; email: string; amount: string; currency: string };
type OtherStep = IdentifyStep | OrderStep;
type StepRow = ClickStep | OtherStep;

function toStep(row: StepRow): JourneyStep {
  const tsNanos = BigInt(row.nanos);
  switch (row.type) {
    case 'click': {
      const { type, nanos: _, channel, link_id: linkId, ...details } = row;
      return { type, tsNanos, channel, linkId, details };
    }
    case 'identify':
      return { type: row.type, tsNanos, email: row.email };
    case 'order':
      return { type: row.type, tsNanos, amountMinor: BigInt(row.amount), currency: row.currency };
  }
}
