import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import {
  type ComparedTable,
  type Condition,
  contentsOf,
  hashedColumns,
  rowsOfSpan,
  type Span,
} from './compared-tables.ts';

/** A span of which two replicas have other rows. */
export type DifferingSpan = Span & { rows: readonly [number, number] };

export const DAY_SECONDS = 86_400;
export const HOUR_SECONDS = 3_600;

export type Compared = {
  one: ClickHouseClient;
  other: ClickHouseClient;
  table: ComparedTable;
  /** The rows that are compared. */
  condition: Condition;
};

/** Returns the pieces of a span that differ, the oldest first. @param seconds length of a piece */
export async function differingPieces(
  { one, other, table, condition }: Compared,
  span: Span,
  seconds: number,
): Promise<DifferingSpan[]> {
  const [ofOne, ofOther] = await Promise.all(
    [one, other].map((client) => contentsOf(client, table, span, seconds, condition)),
  );
  if (!ofOne || !ofOther) return [];
  return [...new Set([...ofOne.keys(), ...ofOther.keys()])]
    .sort((a, b) => a - b)
    .filter((begin) => ofOne.get(begin)?.hash !== ofOther.get(begin)?.hash)
    .map((begin) => ({
      from: Math.max(begin, span.from),
      to: Math.min(begin + seconds, span.to),
      rows: [ofOne.get(begin)?.rows ?? 0, ofOther.get(begin)?.rows ?? 0],
    }));
}

/** A row that only one replica has, or that is another one there. `in`: the replica, by its position. */
export type DifferingRow = { key: Record<string, unknown>; in: 'both' | 0 | 1 };

/** Rows of one second that are compared, at most. */
const MOST_ROWS = 100_000;

/** Returns rows of a span that differ, the oldest second first. @param most how many */
export async function differingRows(
  compared: Compared,
  span: DifferingSpan,
  most: number,
): Promise<DifferingRow[]> {
  const { one, other, table, condition } = compared;
  const seconds = table.hasTimes ? await differingPieces(compared, span, 1) : [span];
  const columns = await hashedColumns(one, table);
  const found: DifferingRow[] = [];
  for (const second of seconds) {
    const of = rowsOfSpan(table, second);
    const hashes = (client: ClickHouseClient) =>
      runQuery<Record<string, unknown> & { row_hash: string }>(client, {
        sql: `SELECT ${table.key.join(', ')}, toString(cityHash64(${columns})) AS row_hash
          FROM ${table.name} ${table.final ? 'FINAL' : ''} WHERE ${of.sql} AND (${condition.sql})
          ORDER BY ${table.key.join(', ')} LIMIT ${MOST_ROWS}`,
        params: { ...of.params, ...condition.params },
        seconds: 120,
      });
    const lists = await Promise.all([hashes(one), hashes(other)]);
    found.push(...rowsThatDiffer(lists));
    if (found.length >= most) return found.slice(0, most);
  }
  return found;
}

type HashedRow = Record<string, unknown> & { row_hash: string };

function rowsThatDiffer(lists: readonly [HashedRow[], HashedRow[]]): DifferingRow[] {
  const keyOf = ({ row_hash: _, ...key }: HashedRow) => JSON.stringify(key);
  const [ofOne, ofOther] = lists.map((rows) => Map.groupBy(rows, keyOf));
  if (!ofOne || !ofOther) return [];
  const hashesOf = (rows: HashedRow[] = []) =>
    rows
      .map((row) => row.row_hash)
      .sort()
      .join();
  return [...new Set([...ofOne.keys(), ...ofOther.keys()])]
    .filter((key) => hashesOf(ofOne.get(key)) !== hashesOf(ofOther.get(key)))
    .map((key) => ({
      key: JSON.parse(key) as Record<string, unknown>,
      in: !ofOther.has(key) ? 0 : !ofOne.has(key) ? 1 : 'both',
    }));
}
