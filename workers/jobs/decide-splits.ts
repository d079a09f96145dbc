import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import { analyticsRows, countedIn } from '../../clickhouse/reports/index.ts';
import { type VariantResult, winnerOf } from '../../core/links/rules/winner.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { readingPoint } from '../../sql/event-log/reading-points.ts';
import { type EndedSplit, endedSplits, storeWinner } from '../../sql/links/splits.ts';

export type SplitsDependencies = { pool: Pool; readers: JobReaders; log: Pick<Logger, 'info'> };

/** Attribution of the last orders takes a moment. Milliseconds. */
const GRACE_MS = 3_000;
/** After this long the winner is decided even when the watermark is late. Milliseconds. */
export const PATIENCE_MS = 8_000;
/** Interval of the job. */
export const DECIDE_SPLITS_EVERY_MS = 1_000;
const CHUNK = 100;
const NANOS_PER_MILLI = 1_000_000n;

/**
 * Decides the winners of splits that have ended, from the figures of reports. Several workers may run it: the first to
 * store a winner decides.
 *
 * @param now milliseconds since the epoch
 * @returns whether more may be due
 */
export async function decideSplits(dependencies: SplitsDependencies, now = Date.now()): Promise<boolean> {
  const { pool, log } = dependencies;
  const ended = await endedSplits(pool, GRACE_MS, CHUNK);
  for (const split of ended) {
    const { watermark, hasDeletedLinks } = await readingPoint(pool, split.workspace_id);
    const isLate = watermark !== null && watermark / 1_000 < split.ends_at;
    if (isLate && now < split.ends_at + PATIENCE_MS) continue;
    const atLeast = isLate ? 0 : split.ends_at * 1_000;
    const winner = winnerOf(await resultsOf(dependencies, split, { hasDeleted: hasDeletedLinks, atLeast }));
    if (await storeWinner(pool, split, winner)) {
      log.info({ link: split.id, variant: winner }, 'decided the winner of a split');
    }
  }
  return ended.length === CHUNK;
}

/**
 * Returns the figures of the variants until the end, as `POST /analytics/query` counts them.
 *
 * @param given.atLeast the time up to which every click must be counted, microseconds
 */
async function resultsOf(
  { readers }: SplitsDependencies,
  { id, workspace_id, created_at, split, split_goal, ends_at }: EndedSplit,
  { hasDeleted, atLeast }: { hasDeleted: boolean; atLeast: number },
): Promise<VariantResult[]> {
  const ids = split.map((variant) => variant.id);
  const window = {
    workspaceId: workspace_id,
    span: { from: BigInt(created_at) * NANOS_PER_MILLI, to: BigInt(ends_at) * NANOS_PER_MILLI },
    hasDeleted,
  };
  const counted = countedIn(window, [{ kind: 'text', dimension: 'variant' }], {
    metrics: ['clicks', split_goal],
    conditions: [
      { kind: 'link', operator: 'is', values: [id] },
      { kind: 'text', dimension: 'variant', operator: 'is', values: ids },
    ],
  });
  const { rows } = await readers.readUpTo(atLeast, (clickhouse) =>
    analyticsRows(clickhouse, counted, { order: [], limit: ids.length, offset: 0 }),
  );
  const byId = new Map(rows.map(({ keys, figures }) => [keys[0], figures]));
  return ids.map((variant) => {
    const figures = byId.get(variant);
    const goal =
      split_goal === 'revenue' ? (figures?.revenueMinor ?? 0n) : inBillionths(figures?.[split_goal] ?? 0);
    return { id: variant, clicks: figures?.clicks ?? 0, goal };
  });
}

/** Under linear attribution a lead or an order is credited in fractions, with nine decimals. */
const inBillionths = (count: number): bigint => BigInt(Math.round(count * 1e9));
