import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ClickHouseClient } from '../../clickhouse/client.ts';

/** Returns the rows of the table of clicks as RowBinary blocks, encoded by ClickHouse. */
export async function readBlocks(
  client: ClickHouseClient,
  rows: number,
  blockRows: number,
): Promise<Buffer[]> {
  const blocks: Buffer[] = [];
  for (let from = 0; from + blockRows <= rows || from === 0; from += blockRows) {
    const { stream } = await client.exec({
      query: `SELECT * FROM clicks ORDER BY sequence LIMIT ${blockRows} OFFSET ${from} FORMAT RowBinary`,
    });
    blocks.push(await buffer(stream));
  }
  return blocks;
}

/** Inserts the blocks in order, with the settings of a worker's inserts. */
export async function insertBlocks(
  client: ClickHouseClient,
  blocks: readonly Buffer[],
  blockRows: number,
): Promise<{ rows: number; seconds: number }> {
  const began = performance.now();
  for (const [number, block] of blocks.entries()) {
    const { stream } = await client.exec({
      query: 'INSERT INTO clicks FORMAT RowBinary',
      values: Readable.from([block], { objectMode: false }),
      clickhouse_settings: {
        async_insert: 0,
        insert_deduplicate: 1,
        insert_deduplication_token: `bench-${number}`,
        wait_end_of_query: 1,
      },
    });
    for await (const _ of stream);
  }
  return { rows: blocks.length * blockRows, seconds: (performance.now() - began) / 1_000 };
}
