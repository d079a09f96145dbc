import { createHash } from 'node:crypto';
import { type ClickRow, clickBlock } from '../../clickhouse/inserts/clicks.ts';
import { type IdentifyRow, identifyBlock } from '../../clickhouse/inserts/identifies.ts';
import type { EventName } from '../../clickhouse/inserts/present-sequences.ts';
import { removedBlock } from '../../clickhouse/inserts/removed-clicks.ts';
import { assertInvariant } from '../../core/invariants.ts';
import type { Prepared } from './prepare.ts';

/**
 * Rows that become one part: stored in full or not at all. Clicks are partitioned by month, so a block has clicks of
 * one month.
 */
export type Block = { name: string } & (
  | { table: 'clicks' | 'removed_clicks'; rows: readonly ClickRow[] }
  | { table: 'identifies'; rows: readonly IdentifyRow[] }
);

export type BlockRow = Block['rows'][number];

/** Returns the blocks of a range, always the same ones in the same order. */
export function toBlocks(prepared: Pick<Prepared, 'clicks' | 'erased' | 'identifies'>): Block[] {
  const blocks: Block[] = [];
  for (const [month, rows] of byMonth(prepared.clicks)) {
    blocks.push({ name: `clicks/${month}`, table: 'clicks', rows });
  }
  const { erased, identifies } = prepared;
  if (erased.length > 0) blocks.push({ name: 'removed_clicks', table: 'removed_clicks', rows: erased });
  if (identifies.length > 0) blocks.push({ name: 'identifies', table: 'identifies', rows: identifies });
  return blocks;
}

/** Returns the block in ClickHouse's Native format. @throws {AssertionError} when its clicks are of several months */
export function encodeBlock(block: Block): Uint8Array[] {
  if (block.table === 'identifies') return identifyBlock(block.rows);
  if (block.table === 'removed_clicks') return removedBlock(block.rows);
  const [first = null] = block.rows;
  if (first) {
    const month = monthOf(first.event.ts);
    const stray = block.rows.find(({ event: { ts } }) => ts < month.start || ts >= month.end);
    assertInvariant(
      'block_month',
      stray === undefined,
      () => `${block.name} begins in ${month.name} and has a click of ${stray?.event.ts}`,
    );
  }
  return clickBlock(block.rows);
}

/** Returns the rows that match, as a block whose name identifies them. */
export function partOf(block: Block, matches: (row: BlockRow, index: number) => boolean): Block {
  const part = { ...block, rows: (block.rows as readonly BlockRow[]).filter(matches) } as Block;
  if (part.rows.length === block.rows.length) return block;
  const hash = createHash('sha256');
  for (const row of part.rows) hash.update(nameOf(row)).update(' ');
  return { ...part, name: `${block.table}/${hash.digest('hex').slice(0, 32)}` };
}

/** Returns the name of a row's event. */
export function nameOf(row: BlockRow): EventName {
  return `${row.ordinal}/${row.sequence}`;
}

/** Rows by UTC month (`202611`), in order of first appearance. */
function byMonth(clicks: readonly ClickRow[]): Map<string, ClickRow[]> {
  const months = new Map<string, ClickRow[]>();
  let rows: ClickRow[] = [];
  let month = { name: '', start: 0, end: 0 };
  for (const click of clicks) {
    const { ts } = click.event;
    if (ts < month.start || ts >= month.end) {
      month = monthOf(ts);
      rows = months.get(month.name) ?? [];
      months.set(month.name, rows);
    }
    rows.push(click);
  }
  return months;
}

/** Returns the UTC month of an event: its name, and its bounds in microseconds, the end exclusive. */
function monthOf(ts: number): { name: string; start: number; end: number } {
  const date = new Date(Math.floor(ts / 1000));
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: `${year}${String(month + 1).padStart(2, '0')}`,
    start: Date.UTC(year, month) * 1000,
    end: Date.UTC(year, month + 1) * 1000,
  };
}
