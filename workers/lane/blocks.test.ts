import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ClickRow } from '../../clickhouse/inserts/clicks.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import { brokenCount } from '../../core/invariants.ts';
import { enrichedClick } from '../../test/support/enriched-click.ts';
import { encodeBlock, toBlocks } from './blocks.ts';

const OCTOBER_END = Date.UTC(2026, 10) * 1000 - 1;

function clickRow(ts: number, sequence: bigint): ClickRow {
  const [workspaceId, linkId, visitorId] = [randomBytes(16), randomBytes(16), randomBytes(16)];
  return {
    event: clickKey({ ts, workspaceId, linkId, visitorId }),
    enriched: enrichedClick(),
    ordinal: 0,
    sequence,
  };
}

it('clicks of two months become two blocks', () => {
  const rows = [clickRow(OCTOBER_END, 1n), clickRow(OCTOBER_END + 1, 2n), clickRow(OCTOBER_END, 3n)];
  const blocks = toBlocks({ clicks: rows, erased: [], identifies: [] });
  expect(blocks.map(({ name, rows: { length } }) => [name, length])).toEqual([
    ['clicks/202610', 2],
    ['clicks/202611', 1],
  ]);
  for (const block of blocks) expect(encodeBlock(block).length).toBeGreaterThan(0);
});

it('a block of two months is not encoded', () => {
  const rows = [clickRow(OCTOBER_END, 1n), clickRow(OCTOBER_END + 1, 2n)];
  const broken = brokenCount('block_month');
  expect(() => encodeBlock({ name: 'clicks/mixed', table: 'clicks', rows })).toThrow(
    `clicks/mixed begins in 202610 and has a click of ${OCTOBER_END + 1}`,
  );
  expect(brokenCount('block_month')).toBe(broken + 1);
});
