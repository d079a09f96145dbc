import assert from 'node:assert/strict';
import type { ClickHouseClient } from './client.ts';

/** Caches of reports. Missing rows are computed again. */
const NOT_FROZEN = /^cached_/;

/**
 * Freezes every table: makes hard links of its parts in `shadow/<name>/` of ClickHouse's data directory, which need no
 * space.
 *
 * The list of rolled-up periods is frozen first, so that the later tables have every period in it.
 */
export async function freezeTables(client: ClickHouseClient, database: string, name: string): Promise<void> {
  assert(/^\w+$/.test(name), `the name of a freeze must be letters, digits, and underscores, not ${name}`);
  const { data } = await (
    await client.query({
      query: `SELECT name FROM system.tables WHERE database = {database:String} AND engine LIKE '%MergeTree'
              ORDER BY name != 'rolled_up_periods', name`,
      query_params: { database },
    })
  ).json<{ name: string }>();
  for (const table of data) {
    if (NOT_FROZEN.test(table.name)) continue;
    await client.command({
      // ClickHouse takes only a literal as the name.
      query: `ALTER TABLE {database:Identifier}.{table:Identifier} FREEZE WITH NAME '${name}'`,
      query_params: { database, table: table.name },
    });
  }
}
