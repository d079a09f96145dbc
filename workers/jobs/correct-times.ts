import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { copyCorrected, dropCopied, firstClick } from '../../clickhouse/corrected-times.ts';
import type { Logger } from '../../core/tier/log.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  markCopied,
  markCorrected,
  type OpenCorrection,
  openCorrections,
} from '../../sql/event-log/clock-corrections.ts';

export type CorrectTimesDependencies = { pool: Pool; clickhouse: ClickHouseClient; log: Logger };

/**
 * Corrects the times of stored clicks and identifies of streams whose clock was ahead. All of them are stored when a
 * correction is known, because it comes behind them in the same stream. Orders get their right times in PostgreSQL.
 *
 *     copying   rows get a corrected copy, unless they have one
 *        │ recorded in PostgreSQL
 *        ▼
 *     copied    the rows with the wrong times go
 *        │ recorded: the next slice
 *        ▼
 *     done
 *
 * Each step may be interrupted and repeated. A slice is shorter than the shift, so copies are never in the slice that
 * goes.
 *
 * @returns false: the next run follows on schedule
 */
export async function correctTimes(dependencies: CorrectTimesDependencies): Promise<boolean> {
  const { pool } = dependencies;
  if ((await openCorrections(pool)).length === 0) return false;
  await withJobLease(pool, 'clockCorrections', async () => {
    for (const correction of await openCorrections(pool)) await correct(dependencies, correction);
  });
  return false;
}

async function correct(
  { pool, clickhouse, log }: CorrectTimesDependencies,
  correction: OpenCorrection,
): Promise<void> {
  const { id, streamId, toTs, shift } = correction;
  if (await isAmbiguous(clickhouse, correction)) {
    log.error(
      { stream: streamId, seconds: Math.round(shift / 1e6) },
      'the time at which the clock of this stream jumped ahead is unknown; its earlier events keep their times',
    );
    await markCorrected(pool, id, toTs + 1);
    return;
  }
  let { isCopied } = correction;
  for (let from = correction.correctedTo; from <= toTs; isCopied = false) {
    const to = Math.min(from + shift, toTs + 1);
    const rows = { ...correction, from, to };
    if (!isCopied) {
      await copyCorrected(clickhouse, rows);
      await markCopied(pool, id);
    }
    await dropCopied(clickhouse, rows);
    await markCorrected(pool, id, to);
    from = to;
  }
  log.info({ stream: streamId, seconds: Math.round(shift / 1e6) }, 'corrected the times of stored events');
}

/**
 * Returns whether it is unclear which events of a correction have wrong times. When the first of them is unknown, all
 * events later than the moment of the correction count as wrong. That is right only if there are none just before that
 * moment: otherwise the clock was ahead for longer than its shift.
 */
async function isAmbiguous(clickhouse: ClickHouseClient, correction: OpenCorrection): Promise<boolean> {
  const { first, fromTs, toTs, shift, correctedTo } = correction;
  if (first > 0n || correctedTo > fromTs || correction.isCopied) return false;
  const least = await firstClick(clickhouse, { ...correction, from: fromTs, to: toTs + 1 });
  if (least === null) return false;
  const between = { from: least - shift, to: Math.min(fromTs, toTs - shift + 1) };
  return between.from < between.to && (await firstClick(clickhouse, { ...correction, ...between })) !== null;
}
