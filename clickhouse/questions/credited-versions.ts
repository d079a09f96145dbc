import type { ClickHouseClient } from '../client.ts';

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
  const result = await client.query({
    query: `SELECT DISTINCT workspace_id, order_id, version FROM order_credits
      WHERE (workspace_id, order_id, version) IN (SELECT arrayJoin(arrayZip({workspaces:Array(UUID)},
        {orders:Array(String)}, {versions:Array(UInt64)})))`,
    query_params: {
      workspaces: versions.map((known) => known.workspaceId),
      orders: versions.map((known) => known.orderId),
      versions: versions.map((known) => known.version),
    },
    use_multipart_params: true,
    format: 'JSONCompactEachRow',
  });
  const rows = await result.json<[string, string, string]>();
  return new Set(
    rows.map(([workspaceId, orderId, version]) =>
      versionKey({ workspaceId, orderId, version: BigInt(version) }),
    ),
  );
}
