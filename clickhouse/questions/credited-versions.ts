import type { ClickHouseClient } from '../client.ts';
import { ask } from './ask.ts';

/** A version of an order, as the store knows it. */
export type OrderVersion = { workspaceId: string; orderId: string; version: bigint };

/** One text for one version of an order. */
export function versionKey({ workspaceId, orderId, version }: OrderVersion): string {
  return `${workspaceId}/${version}/${orderId}`;
}

/** Keys of those versions whose credits stand in `order_credits`: written at once, so in full. */
export async function creditedVersions(
  client: ClickHouseClient,
  versions: readonly OrderVersion[],
): Promise<Set<string>> {
  if (versions.length === 0) return new Set();
  const rows = await ask<{ workspace_id: string; order_id: string; version: string }>(client, {
    sql: `SELECT DISTINCT workspace_id, order_id, version FROM order_credits
      WHERE (workspace_id, order_id, version) IN (SELECT arrayJoin(arrayZip({workspaces:Array(UUID)},
        {orders:Array(String)}, {versions:Array(UInt64)})))`,
    params: {
      workspaces: versions.map((known) => known.workspaceId),
      orders: versions.map((known) => known.orderId),
      versions: versions.map((known) => known.version),
    },
    seconds: 30,
  });
  return new Set(
    rows.map((row) =>
      versionKey({ workspaceId: row.workspace_id, orderId: row.order_id, version: BigInt(row.version) }),
    ),
  );
}
