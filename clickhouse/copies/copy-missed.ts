import type { ClickHouseClient } from '../client.ts';
import { assertNoneRuns } from '../running-inserts.ts';
import { type ComparedTable, type Condition, comparedTable } from './compared-tables.ts';
import { copyRows } from './copy-rows.ts';

/** Rows that one replica has missed and another one has. */
export type MissedRows = Condition & { table: Exclude<ComparedTable['name'], 'orders'> };

/** Inserts of clicks that are repaired by copies, by the beginning of their tokens. */
export const REPAIRED_TOKENS = { import: 'import/', deadLetter: 'dead/', archive: 'archive/' } as const;

/**
 * Copies rows that a replica has missed. May be repeated.
 *
 * @throws Error while an earlier insert of such clicks may still take effect in `to`, which would store them twice
 */
export async function copyMissed(
  from: ClickHouseClient,
  to: ClickHouseClient,
  { table, ...rows }: MissedRows,
): Promise<void> {
  if (table === 'clicks') await assertNoInsertRuns(to);
  await copyRows(from, to, comparedTable(table), rows);
}

/** @throws Error while an insert of clicks that repairs copy still runs in a replica */
export function assertNoInsertRuns(client: ClickHouseClient): Promise<void> {
  const isRepaired = {
    sql: "arrayExists(start -> startsWith(Settings['insert_deduplication_token'], start), {starts:Array(String)})",
    params: { starts: Object.values(REPAIRED_TOKENS) },
  };
  return assertNoneRuns(client, isRepaired, 'insert of clicks');
}
