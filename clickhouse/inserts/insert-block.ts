import { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';

export type BlockInsert = {
  table: 'clicks' | 'removed_clicks' | 'identifies' | 'orders' | 'attributed_shares';
  /** A block in the Native format, see `native-columns.ts`. */
  block: readonly Uint8Array[];
  /** Makes a second insert of the same block a no-op, also after a restart (`non_replicated_deduplication_window`). */
  token: string;
  signal?: AbortSignal;
};

/**
 * Inserts one block. When it resolves, the rows are stored and visible. When it throws, all of them are stored or none:
 * a block of one month becomes one part of the table.
 *
 * @throws {ClickHouseError} when ClickHouse refuses it, see `refusal.ts`; a network error when ClickHouse is down
 */
export async function insertBlock(client: ClickHouseClient, insert: BlockInsert): Promise<void> {
  const { stream } = await client.exec({
    query: `INSERT INTO ${insert.table} FORMAT Native`,
    values: Readable.from(insert.block, { objectMode: false }),
    ...(insert.signal ? { abort_signal: insert.signal } : {}),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      insert_deduplication_token: insert.token,
      // The status must tell the outcome of the whole insert, not that it has begun.
      wait_end_of_query: 1,
    },
  });
  // The socket is free for the next request once the (empty) response has been read.
  for await (const _ of stream);
}
