import type { ClickHouseClient } from './client.ts';

/** A part of a table whose rows ClickHouse has set aside, or can't read, because its files are damaged. */
export type DamagedPart = {
  table: string;
  /** As in the table's directory: `202611_1_5_1`, with a prefix such as `broken-on-start_` once it is set aside. */
  part: string;
  /** Partition id: the month `202611` of clicks; `all` where the table has no partitions. */
  partition: string;
  bytes: number;
  /**
   * ClickHouse's reason for a part that it has set aside (`broken-on-start`); `unreadable` while it is still in use.
   */
  reason: string;
};

/**
 * Errors of a read that met bytes which are not those that were written. ClickHouse keeps the last message of each,
 * since its start. It names the file.
 */
const DAMAGE = [
  'CHECKSUM_DOESNT_MATCH',
  'CORRUPTED_DATA',
  'CANNOT_DECOMPRESS',
  'CANNOT_READ_ALL_DATA',
  'UNKNOWN_CODEC',
];

/**
 * Returns the damaged parts of this database's tables, sorted by table and part. A part that an operator detached is
 * not one.
 *
 * A part that was set aside is reported until an operator drops it, also where a replica has given its rows back.
 * Damage inside a file of a part in use is known once something has read it, until the next start of ClickHouse.
 */
export async function damagedParts(client: ClickHouseClient): Promise<DamagedPart[]> {
  const result = await client.query({
    query: `
      SELECT table, part, partition, toFloat64(bytes) AS bytes, reason FROM (
        SELECT table, name AS part, partition_id AS partition, bytes_on_disk AS bytes, reason
        FROM system.detached_parts
        WHERE database = currentDatabase()
          AND (startsWith(assumeNotNull(reason), 'broken') OR reason IN ('unexpected', 'covered-by-broken'))
        UNION ALL
        SELECT table, name, partition_id, bytes_on_disk, 'unreadable'
        FROM system.parts
        WHERE database = currentDatabase() AND active
          AND arrayExists(message -> position(message, path) > 0, (
            SELECT groupArray(last_error_message) FROM system.errors WHERE name IN {errors:Array(String)}
          ))
      )
      ORDER BY table, part`,
    query_params: { errors: DAMAGE },
    format: 'JSONEachRow',
  });
  return result.json<DamagedPart>();
}

/**
 * Returns one line about a part, for logs and `hoplog status`:
 * `clicks 202611_1_5_1 (unreadable, partition 202611, 1.5 MB)`.
 */
export function describeDamage({ table, part, partition, bytes, reason }: DamagedPart): string {
  const megabytes = (bytes / 1e6).toFixed(bytes < 1e5 ? 3 : 1);
  return `${table} ${part} (${reason}, partition ${partition}, ${megabytes} MB)`;
}
