import type { Queryable } from '../database/pool.ts';
import { NUMBERED, type Numbered } from './archived-table.ts';

/** The least and the greatest number of an archive in each table; a table without rows is not here. */
export type NumberRanges = Partial<Record<Numbered, { least: number; greatest: number }>>;

const EACH = Object.keys(NUMBERED) as Numbered[];

function zeros(): Record<Numbered, number> {
  return Object.fromEntries(EACH.map((table) => [table, 0])) as Record<Numbered, number>;
}

/** Returns the least and greatest numbers of a workspace's rows. */
export async function numberRanges(
  tx: Queryable,
  workspaceId: string,
  rowsOf: (table: Numbered) => string,
): Promise<NumberRanges> {
  const ranges: NumberRanges = {};
  for (const table of EACH) {
    const column = NUMBERED[table];
    const { rows } = await tx.query<{ least: number | null; greatest: number | null }>(
      `SELECT min(t.${column})::bigint AS least, max(t.${column})::bigint AS greatest FROM ${table} AS t
       WHERE ${rowsOf(table)}`,
      [workspaceId],
    );
    const [found] = rows;
    if (found && found.least !== null && found.greatest !== null) {
      ranges[table] = { least: found.least, greatest: found.greatest };
    }
  }
  return ranges;
}

/**
 * Reserves numbers for rows of an archive, and returns what to add to the archive's numbers: 0 where those are free
 * here. Waits for transactions that have taken a number, so it runs in a short transaction of its own.
 */
export async function reserveNumbers(tx: Queryable, ranges: NumberRanges): Promise<Record<Numbered, number>> {
  const offsets = zeros();
  for (const table of EACH) {
    const range = ranges[table];
    if (range === undefined) continue;
    const { rows } = await tx.query<{ added: number }>('SELECT reserve_numbers($1, $2, $3, $4) AS added', [
      table,
      NUMBERED[table],
      range.least,
      range.greatest,
    ]);
    offsets[table] = rows[0]?.added ?? 0;
  }
  return offsets;
}

/** Returns offsets to negative numbers, which no row has, for a transaction that is rolled back. */
export function negativeNumbers(ranges: NumberRanges): Record<Numbered, number> {
  const offsets = zeros();
  for (const table of EACH) offsets[table] = -(ranges[table]?.greatest ?? 0) - 1;
  return offsets;
}
