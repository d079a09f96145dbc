import type { ClickHouseClient } from '../client.ts';
import { runQuery } from './run-query.ts';

/** An order and its time. */
export type OrderAtTime = {
  workspaceId: string;
  orderId: string;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
};

/** Returns one text for each order. */
export function orderKey({ workspaceId, orderId }: Pick<OrderAtTime, 'workspaceId' | 'orderId'>): string {
  return `${workspaceId}/${orderId}`;
}

/**
 * Returns how many parts of each version of these orders are in `attributed_shares` and not replaced, by {@link orderKey} and
 * version: of the versions with the given time. The parts of a version are inserted at once, so in full.
 */
export async function storedShares(
  client: ClickHouseClient,
  orders: readonly OrderAtTime[],
): Promise<Map<string, Map<number, number>>> {
  const stored = new Map<string, Map<number, number>>();
  if (orders.length === 0) return stored;
  const rows = await runQuery<{ workspace_id: string; order_id: string; version: string; parts: number }>(
    client,
    {
      sql: `SELECT workspace_id, order_id, version, max(part) + 1 AS parts FROM attributed_shares FINAL
      WHERE (workspace_id, ts, order_id) IN (
        SELECT given.1, fromUnixTimestamp64Nano(given.2, 'UTC'), given.3 FROM (
          SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {times:Array(Int64)}, {orders:Array(String)})) AS given))
        AND NOT replaced
      GROUP BY workspace_id, order_id, version`,
      params: {
        workspaces: orders.map((order) => order.workspaceId),
        times: orders.map(({ ts, streamOrdinal }) => BigInt(ts) * 1_000n + BigInt(streamOrdinal)),
        orders: orders.map((order) => order.orderId),
      },
      seconds: 30,
    },
  );
  for (const row of rows) {
    const key = orderKey({ workspaceId: row.workspace_id, orderId: row.order_id });
    const versions = stored.get(key) ?? new Map<number, number>();
    stored.set(key, versions.set(Number(row.version), Number(row.parts)));
  }
  return stored;
}

/** A version of a lead in ClickHouse, under the order id that it was written with. */
export type StoredLead = { orderId: string; version: number; parts: number };

/** Returns one text for each lead: no two identifies of a workspace have the same time. */
export function leadKey({ workspaceId, ts, streamOrdinal }: Omit<OrderAtTime, 'orderId'>): string {
  return `${workspaceId}/${BigInt(ts) * 1_000n + BigInt(streamOrdinal)}`;
}

/**
 * Returns the versions of these leads in `attributed_shares` that are not replaced, by {@link leadKey}. PostgreSQL may not
 * know them: where it has gone back, the same identify got another number, and so another order id.
 */
export async function storedLeads(
  client: ClickHouseClient,
  leads: readonly Omit<OrderAtTime, 'orderId'>[],
): Promise<Map<string, StoredLead[]>> {
  if (leads.length === 0) return new Map();
  const rows = await runQuery<{ key: string; order_id: string; version: string; parts: number }>(client, {
    sql: `SELECT concat(toString(workspace_id), '/', toString(toUnixTimestamp64Nano(ts))) AS key, order_id, version,
        max(part) + 1 AS parts
      FROM attributed_shares FINAL
      WHERE (workspace_id, ts) IN (
        SELECT given.1, fromUnixTimestamp64Nano(given.2, 'UTC') FROM (
          SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {times:Array(Int64)})) AS given))
        AND lead > 0 AND NOT replaced
      GROUP BY workspace_id, ts, order_id, version`,
    params: {
      workspaces: leads.map((lead) => lead.workspaceId),
      times: leads.map(({ ts, streamOrdinal }) => BigInt(ts) * 1_000n + BigInt(streamOrdinal)),
    },
    seconds: 30,
  });
  const found = rows.map(({ key, order_id, version, parts }) => ({
    key,
    stored: { orderId: order_id, version: Number(version), parts: Number(parts) },
  }));
  return new Map(
    [...Map.groupBy(found, ({ key }) => key)].map(([key, all]) => [key, all.map(({ stored }) => stored)]),
  );
}
