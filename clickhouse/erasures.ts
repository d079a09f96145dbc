import type { ClickHouseClient } from './client.ts';
import { recordRemoval } from './counts/removed-clicks.ts';
import { syncReplica } from './sync-replica.ts';

/** The `visitor_id` of orders without a visitor. */
const NO_VISITOR = '00000000-0000-0000-0000-000000000000';

/** Removes one id of several of a browser. */
const FORGET_OTHER = `UPDATE other_visitor_ids = arrayFilter(id -> id != {visitor:UUID}, other_visitor_ids)
  WHERE workspace_id = {workspace:UUID} AND has(other_visitor_ids, {visitor:UUID})`;

/** Makes an order anonymous. The order itself stays: it is revenue of the workspace. */
const ANONYMIZE = `UPDATE visitor_id = toUUID('${NO_VISITOR}'), email = '', external_user_id = '', other_visitor_ids = []`;

/**
 * Names, or orders, in one statement: ClickHouse takes no parameter beyond 128 KiB, and an email may have 254
 * characters of 4 bytes.
 */
const IN_STATEMENT = 100;

/** Identifiers that an order may have instead of a visitor id. */
type Names = { emails: readonly string[]; users: readonly string[] };

/** A visitor or a link of a workspace whose rows must leave ClickHouse. */
export type Erased = { workspaceId: string; targetId: string };

type Rewrite = {
  table: 'clicks' | 'identifies' | 'orders';
  column: 'visitor_id' | 'link_id';
  /** The mutation of the rows. */
  change: string;
};

const REWRITES: Record<'visitor' | 'link', readonly Rewrite[]> = {
  visitor: [
    { table: 'clicks', column: 'visitor_id', change: 'DELETE' },
    { table: 'identifies', column: 'visitor_id', change: 'DELETE' },
    { table: 'orders', column: 'visitor_id', change: ANONYMIZE },
  ],
  link: [{ table: 'clicks', column: 'link_id', change: 'DELETE' }],
};

function matches(column: string): string {
  return `(workspace_id, ${column}) IN (SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {targets:Array(UUID)})))`;
}

function parametersOf(erased: readonly Erased[]) {
  return {
    workspaces: erased.map((target) => target.workspaceId),
    targets: erased.map((target) => target.targetId),
  };
}

/** Takes links out of every response at once, before their rows are removed. */
export async function hideLinks(client: ClickHouseClient, links: readonly Erased[]): Promise<void> {
  if (links.length === 0) return;
  await client.insert({
    table: 'deleted_links',
    values: links.map((link) => ({ workspace_id: link.workspaceId, link_id: link.targetId })),
    format: 'JSONEachRow',
  });
}

/**
 * Takes a visitor out of every response at once, and returns how many clicks and identifies there were. When this
 * resolves, clicks and identifies are masked and orders anonymous, on every replica. Masked rows stay on disk until
 * {@link beginRewriting} removes them.
 *
 * @param names emails and user ids whose orders without a visitor id belong to the visitor too
 * @param before microseconds: of the orders without a visitor id only older ones; left out: all
 */
export async function hideVisitor(
  client: ClickHouseClient,
  { workspaceId, targetId }: Erased,
  { emails, users }: Names,
  before: number | null = null,
): Promise<{ clicks: number; identifies: number }> {
  const params = { workspace: workspaceId, visitor: targetId };
  const own = 'workspace_id = {workspace:UUID} AND visitor_id = {visitor:UUID}';
  const result = await client.query({
    query: `SELECT (SELECT count() FROM clicks WHERE ${own}) AS clicks,
              (SELECT count() FROM identifies FINAL WHERE ${own}) AS identifies`,
    query_params: params,
    format: 'JSONEachRow',
  });
  const [found] = await result.json<{ clicks: string; identifies: string }>();
  const recorded = await recordRemoval(client, own, params);
  for (const [table, condition] of [
    ['clicks', `${own} AND ${recorded}`],
    ['identifies', own],
  ]) {
    await client.command({
      query: `DELETE FROM ${table} WHERE ${condition}`,
      query_params: params,
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    });
  }
  await anonymizeOrders(client, { workspaceId, targetId }, { emails, users }, before);
  return { clicks: Number(found?.clicks ?? 0), identifies: Number(found?.identifies ?? 0) };
}

/**
 * Makes a visitor's orders anonymous, and orders without a visitor id that have one of these names. Takes the visitor
 * out of identifies and orders of a browser that has other ids.
 *
 * Hazard: ClickHouse keeps the text of mutations. They name orders and visitor ids, never an email or a user.
 *
 * @param before microseconds: of the orders without a visitor id only older ones; null: all
 */
export async function anonymizeOrders(
  client: ClickHouseClient,
  { workspaceId, targetId }: Erased,
  names: Names,
  before: number | null,
): Promise<void> {
  for (const table of ['identifies', 'orders']) {
    await client.command({
      query: `ALTER TABLE ${table} ${FORGET_OTHER}`,
      query_params: { workspace: workspaceId, visitor: targetId },
      clickhouse_settings: { mutations_sync: '2' },
    });
  }
  const named = await ordersNaming(client, workspaceId, names, before);
  // At least once, for the visitor's own.
  for (let from = 0; from === 0 || from < named.length; from += IN_STATEMENT) {
    const orders = named.slice(from, from + IN_STATEMENT);
    await client.command({
      query: `ALTER TABLE orders ${ANONYMIZE} WHERE workspace_id = {workspace:UUID} AND (visitor_id = {visitor:UUID}
                OR (visitor_id = toUUID('${NO_VISITOR}') AND (order_id, toString(version)) IN (
                  SELECT arrayJoin(arrayZip({orders:Array(String)}, {versions:Array(String)})))))`,
      query_params: {
        workspace: workspaceId,
        visitor: targetId,
        orders: orders.map((order) => order.order_id),
        versions: orders.map((order) => order.version),
      },
      use_multipart_params: true,
      clickhouse_settings: { mutations_sync: '2' },
    });
  }
}

/** Returns the rows of orders without a visitor id that have one of these names. */
async function ordersNaming(
  client: ClickHouseClient,
  workspaceId: string,
  { emails, users }: Names,
  before: number | null,
): Promise<{ order_id: string; version: string }[]> {
  const most = Math.max(emails.length, users.length);
  if (most > 0) await syncReplica(client, 'orders');
  const isOlder = before === null ? '' : "AND ts < fromUnixTimestamp64Micro({before:Int64}, 'UTC')";
  const found: { order_id: string; version: string }[] = [];
  for (let from = 0; from < most; from += IN_STATEMENT) {
    const result = await client.query({
      query: `SELECT order_id, toString(version) AS version FROM orders
              WHERE workspace_id = {workspace:UUID} AND visitor_id = toUUID('${NO_VISITOR}')
                AND (email IN {emails:Array(String)} OR external_user_id IN {users:Array(String)}) ${isOlder}`,
      query_params: {
        workspace: workspaceId,
        ...(before === null ? {} : { before }),
        emails: emails.slice(from, from + IN_STATEMENT),
        users: users.slice(from, from + IN_STATEMENT),
      },
      use_multipart_params: true,
      format: 'JSONEachRow',
    });
    found.push(...(await result.json<{ order_id: string; version: string }>()));
  }
  return found;
}

/** Returns the ids of the given targets that still have rows, masked rows included. */
export async function stillStored(
  client: ClickHouseClient,
  kind: 'visitor' | 'link',
  erased: readonly Erased[],
): Promise<Set<string>> {
  const left = new Set<string>();
  if (erased.length === 0) return left;
  for (const { table, column } of REWRITES[kind]) {
    const result = await client.query({
      query: `SELECT DISTINCT ${column} FROM ${table} WHERE ${matches(column)}`,
      query_params: parametersOf(erased),
      use_multipart_params: true,
      clickhouse_settings: { apply_deleted_mask: 0 },
      format: 'JSONCompactEachRow',
    });
    for (const [id] of await result.json<[string]>()) left.add(id);
  }
  return left;
}

/** Returns whether a mutation is still running. */
export async function isRewriting(client: ClickHouseClient): Promise<boolean> {
  const result = await client.query({
    query: `SELECT count() AS open FROM system.mutations WHERE database = currentDatabase() AND NOT is_done`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ open: string }>();
  return row?.open !== '0';
}

/** Starts mutations that remove the rows of the given targets from disk. Queries run meanwhile. */
export async function beginRewriting(
  client: ClickHouseClient,
  kind: 'visitor' | 'link',
  erased: readonly Erased[],
): Promise<void> {
  if (erased.length === 0) return;
  // A mutation takes no parameters: the ids come from columns of type uuid.
  const targets = erased.map(({ workspaceId, targetId }) => `(${quoted(workspaceId)}, ${quoted(targetId)})`);
  for (const { table, column, change } of REWRITES[kind]) {
    // A mutation does not see masked rows: without this they would stay on disk.
    const masked = change === 'DELETE' ? ', APPLY DELETED MASK' : '';
    const own = `(workspace_id, ${column}) IN (${targets.join(', ')})`;
    const condition = table === 'clicks' ? `${own} AND ${await recordRemoval(client, own)}` : own;
    await client.command({
      query: `ALTER TABLE ${table} ${change} WHERE ${condition}${masked}`,
      clickhouse_settings: { mutations_sync: '0' },
    });
  }
}

function quoted(uuid: string): string {
  if (!/^[0-9a-f-]{36}$/.test(uuid)) throw new Error(`${JSON.stringify(uuid)} must be a UUID`);
  return `'${uuid}'`;
}
