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
