import type { ClickHouseClient } from './client.ts';

/**
 * Waits until the responding replica has every row of a replicated table. Migrations make none, but services replicate
 * `MergeTree` of their own accord (`SharedMergeTree` of ClickHouse Cloud, `ReplicatedMergeTree` of Aiven).
 */
export async function syncReplica(client: ClickHouseClient, table: string): Promise<void> {
  const result = await client.query({
    query: `SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}`,
    query_params: { table },
    format: 'JSONEachRow',
  });
  const [found] = await result.json<{ engine: string }>();
  if (/^(Replicated|Shared)/.test(found?.engine ?? ''))
    await client.command({ query: `SYSTEM SYNC REPLICA ${table}` });
}
