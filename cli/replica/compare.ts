import { setTimeout as sleep } from 'node:timers/promises';
import {
  COMPARED_TABLES,
  type ComparedTable,
  monthsOf,
  type Span,
} from '../../clickhouse/copies/compared-tables.ts';
import {
  type Compared,
  DAY_SECONDS,
  type DifferingSpan,
  differingPieces,
  differingRows,
  HOUR_SECONDS,
} from '../../clickhouse/copies/differing-spans.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { detailsOf } from './details.ts';

/** Rows that are named, at most. */
const MOST_ROWS = 100;
/** A write may have reached one replica a moment before the other. Milliseconds. */
const LOOK_AGAIN_MS = 2_000;

export type Comparison = {
  replicas: [string, string];
  /** What was compared is older. Null: there is no stream. */
  before: string | null;
  /** Number of rows in each replica, in this order. `hour` is null in a table without times. */
  differences: { table: string; hour: string | null; rows: [number, number] }[];
  /** Rows of these hours, with the columns of their key; of a range alone. */
  rows?: { table: string; key: Record<string, unknown>; in: string }[];
};

/**
 * Compares the rows of two replicas that both have from the log, by hour.
 *
 * @param range the hours to compare, and to name rows of; null: all, without rows
 */
export async function compareReplicas(
  pool: Pool,
  one: Replica,
  other: Replica,
  range: Span | null,
): Promise<Comparison> {
  const marks = [(await detailsOf(pool, one.name)).watermark, (await detailsOf(pool, other.name)).watermark];
  const before = marks.includes(null) ? null : Math.min(...marks.map(Number));
  const differences: Comparison['differences'] = [];
  const rows: NonNullable<Comparison['rows']> = [];
  for (const table of COMPARED_TABLES) {
    const compared: Compared = {
      one: one.clickhouse,
      other: other.clickhouse,
      table,
      condition: upTo(table, before),
    };
    const first = await differingHours(compared, range);
    if (first.length === 0) continue;
    await sleep(LOOK_AGAIN_MS);
    for (const hour of await stillDiffering(compared, first)) {
      const at = table.hasTimes ? `${new Date(hour.from * 1_000).toISOString().slice(0, 16)}Z` : null;
      differences.push({ table: table.name, hour: at, rows: [...hour.rows] });
      if (range === null || rows.length >= MOST_ROWS) continue;
      for (const row of await differingRows(compared, hour, MOST_ROWS - rows.length)) {
        const where = row.in === 'both' ? 'both' : [one.name, other.name][row.in];
        rows.push({ table: table.name, key: row.key, in: where ?? '' });
      }
    }
  }
  return {
    replicas: [one.name, other.name],
    before: before === null ? null : new Date(before / 1_000).toISOString(),
    differences,
    ...(range !== null && { rows }),
  };
}

function upTo({ hasTimes }: ComparedTable, before: number | null): Compared['condition'] {
  if (!hasTimes || before === null) return { sql: 'true', params: {} };
  return { sql: `ts < fromUnixTimestamp64Micro({before:Int64}, 'UTC')`, params: { before } };
}

async function differingHours(compared: Compared, range: Span | null): Promise<DifferingSpan[]> {
  const { one, other, table } = compared;
  const found: DifferingSpan[] = [];
  for (const month of await monthsOfBoth(one, other, table)) {
    const span = range && table.hasTimes ? overlap(month, range) : month;
    if (span === null) continue;
    for (const day of await differingPieces(compared, span, DAY_SECONDS))
      found.push(...(table.hasTimes ? await differingPieces(compared, day, HOUR_SECONDS) : [day]));
  }
  return found;
}

async function stillDiffering(compared: Compared, hours: readonly DifferingSpan[]): Promise<DifferingSpan[]> {
  const again = await Promise.all(hours.map((hour) => differingPieces(compared, hour, HOUR_SECONDS)));
  return again.flat();
}

async function monthsOfBoth(
  one: Compared['one'],
  other: Compared['one'],
  table: ComparedTable,
): Promise<Span[]> {
  const months = [...(await monthsOf(one, table)), ...(await monthsOf(other, table))];
  return [...new Map(months.map((month) => [month.from, month])).values()].sort((a, b) => a.from - b.from);
}

function overlap(month: Span, range: Span): Span | null {
  const both = { from: Math.max(month.from, range.from), to: Math.min(month.to, range.to) };
  return both.from < both.to ? both : null;
}
