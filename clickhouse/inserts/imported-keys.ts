import type { ClickHouseClient } from '../client.ts';

/** An imported click that is stored: its key in two halves, its time in microseconds, and how many it stands for. */
export type StoredKey = { high: number; low: number; ts: number; count: number };

const ROW_BYTES = 20;
const SECONDS = 120;

/**
 * Calls back for each imported click of a workspace in a span of time.
 *
 * @param span microseconds, half-open
 */
export async function eachImportedKey(
  client: ClickHouseClient,
  workspaceId: string,
  span: { from: number; to: number },
  found: (key: StoredKey) => void,
): Promise<void> {
  const { stream } = await client.exec({
    query: `SELECT toUnixTimestamp64Micro(toDateTime64(ts, 6, 'UTC')) AS micros, sequence,
        count FROM clicks
      WHERE workspace_id = {workspace:UUID} AND imported
        AND ts >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({to:Int64}, 'UTC')
      FORMAT RowBinary`,
    query_params: { workspace: workspaceId, from: span.from, to: span.to },
    clickhouse_settings: { max_execution_time: SECONDS },
  });
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of stream) {
    const bytes = held.length === 0 ? (piece as Buffer) : Buffer.concat([held, piece as Buffer]);
    const end = bytes.length - (bytes.length % ROW_BYTES);
    for (let at = 0; at < end; at += ROW_BYTES) {
      found({
        ts: bytes.readUInt32LE(at) + bytes.readInt32LE(at + 4) * 2 ** 32,
        low: bytes.readUInt32LE(at + 8),
        high: bytes.readUInt32LE(at + 12),
        count: bytes.readUInt32LE(at + 16),
      });
    }
    held = bytes.subarray(end);
  }
}
