import { notFromLog } from '../../clickhouse/copies/before-log.ts';
import { both, COMPARED_TABLES, monthsOf, rowsOfSpan } from '../../clickhouse/copies/compared-tables.ts';
import { copyRows } from '../../clickhouse/copies/copy-rows.ts';
import {
  type Compared,
  DAY_SECONDS,
  type DifferingSpan,
  differingPieces,
  HOUR_SECONDS,
} from '../../clickhouse/copies/differing-spans.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { recordFilled, streamMarks } from '../../sql/event-log/replica-fills.ts';
import { assertSource, detailsOf } from './details.ts';

/** Rows that are copied at once, about. A day with more is copied by the hour. */
const ROWS_AT_ONCE = 1_000_000;

export type Filled = { filled: string; from: string; copied: { table: string; rows: number }[] };

/**
 * Fills a replica with what is older than its addition. Days that are equal are left out, so a fill that ended early is
 * continued by another one.
 *
 * @param note gets a line for each month
 * @throws {CommandFailed}
 */
export async function fillReplica(
  pool: Pool,
  source: Replica,
  target: Replica,
  note: (line: string) => void,
): Promise<Filled> {
  const { name } = target;
  const { isFilling } = await detailsOf(pool, name);
  const copied: Filled['copied'] = [];
  if (!isFilling) return { filled: name, from: source.name, copied };
  const marks = await streamMarks(pool, name);
  for (const table of COMPARED_TABLES) {
    let rows = 0;
    for (const month of await monthsOf(source.clickhouse, table)) {
      await assertSource(pool, source.name);
      const compared: Compared = {
        one: source.clickhouse,
        other: target.clickhouse,
        table,
        condition: notFromLog(table, marks),
      };
      let inMonth = 0;
      for (const piece of await piecesOf(compared, month)) {
        const rows = both(rowsOfSpan(table, piece), compared.condition);
        await copyRows(source.clickhouse, target.clickhouse, table, rows);
        inMonth += Math.max(0, piece.rows[0] - piece.rows[1]);
      }
      rows += inMonth;
      const when = table.hasTimes ? ` of ${new Date(month.from * 1_000).toISOString().slice(0, 7)}` : '';
      note(`${table.name}${when}: ${inMonth} rows copied`);
    }
    copied.push({ table: table.name, rows });
  }
  await assertSource(pool, source.name);
  await recordFilled(pool, name);
  return { filled: name, from: source.name, copied };
}

/** Returns the days of a month that differ, and the hours of large ones. */
async function piecesOf(compared: Compared, month: { from: number; to: number }): Promise<DifferingSpan[]> {
  const days = await differingPieces(compared, month, DAY_SECONDS);
  const pieces: DifferingSpan[] = [];
  for (const day of days) {
    if (day.rows[0] <= ROWS_AT_ONCE) pieces.push(day);
    else pieces.push(...(await differingPieces(compared, day, HOUR_SECONDS)));
  }
  return pieces;
}
