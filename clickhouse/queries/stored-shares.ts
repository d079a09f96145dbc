import { versionNanos } from '../../core/events/order-version.ts';
import type { ClickHouseClient } from '../client.ts';
import { runQuery } from './run-query.ts';

/** A version of an order in ClickHouse. */
export type OrderVersion = { workspaceId: string; orderId: string; version: bigint };

/** Returns a text that names one version of an order. */
export function versionKey({ workspaceId, orderId, version }: OrderVersion): string {
  return `${workspaceId}/${version}/${orderId}`;
}

/**
 * Returns how many parts of each version `attributed_shares` has that are not replaced, by {@link versionKey}. A version is written
 * by one insert, so its parts are complete. Versions without parts are left out.
 */
export async function storedShares(
  client: ClickHouseClient,
  versions: readonly OrderVersion[],
): Promise<Map<string, number>> {
  if (versions.length === 0) return new Map();
  const rows = await runQuery<{ workspace_id: string; order_id: string; version: string; parts: number }>(
    client,
    {
      sql: `SELECT workspace_id, order_id, version, max(part) + 1 AS parts FROM attributed_shares
      WHERE (workspace_id, ts, order_id, version) IN (
        SELECT given.1, fromUnixTimestamp64Nano(given.2, 'UTC'), given.3, given.4 FROM (
          SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {times:Array(Int64)}, {orders:Array(String)},
            {versions:Array(UInt64)})) AS given))
        AND NOT replaced
      GROUP BY workspace_id, order_id, version`,
      params: {
        workspaces: versions.map((known) => known.workspaceId),
        times: versions.map((known) => versionNanos(known.version)),
        orders: versions.map((known) => known.orderId),
        versions: versions.map((known) => known.version),
      },
      seconds: 30,
    },
  );
  return new Map(
    rows.map((row) => [
      versionKey({ workspaceId: row.workspace_id, orderId: row.order_id, version: BigInt(row.version) }),
      Number(row.parts),
    ]),
  );
}
