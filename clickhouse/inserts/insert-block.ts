import { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';

export type BlockInsert = {
  table: 'clicks' | 'identifies' | 'orders' | 'attributed_shares';
  /** A block of the Native format, see `native-columns.ts`. */
  block: readonly Uint8Array[];
  /**
   * What makes a second insert of the same block a no-op, also after a restart of the store
   * (`non_replicated_deduplication_window`).
   */
  token: string;
  signal?: AbortSignal;
};

/**
 * Inserts one block. When it resolves the rows are stored and visible; when it throws they may be there or
 * not, never in part: a block of one month becomes one part of the table.
 *
 * @throws {ClickHouseError} when the store refused it, see `refusal.ts`; a network error when it is away
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
      // The answer's status must tell the whole outcome, not only that the insert had begun.
      wait_end_of_query: 1,
    },
  });
  // The socket is free for the next request once the (empty) answer has been read.
  for await (const _ of stream);
}
