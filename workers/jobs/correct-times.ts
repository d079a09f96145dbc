import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { copyCorrected, dropCopied, firstClick } from '../../clickhouse/corrected-times.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  finishCorrection,
  hasOpenCorrections,
  markCopied,
  markCorrected,
  type OpenCorrection,
  openCorrections,
  recordAmbiguity,
} from '../../sql/event-log/clock-corrections.ts';
import { forEachReplica } from '../replicas/for-each-replica.ts';

export type CorrectTimesDependencies = { pool: Pool; replicas: readonly Replica[]; log: Logger };

/**
 * Corrects the times of stored clicks and identifies of streams whose clock was ahead, in each replica of ClickHouse
 * with a progress of its own. A correction comes behind them in the same stream, so a replica that has read it has all
 * of them. Orders get their right times in PostgreSQL.
 *
 *     copying   rows get a corrected copy, unless they have one
 *        │ recorded in PostgreSQL
 *        ▼
 *     copied    the rows with the wrong times go
 *        │ recorded: the next slice
 *        ▼
 *     done      replicas that are not done are not read
 *
 * Each step may be interrupted and repeated. A slice is shorter than the shift, so copies are never in the slice that
 * goes.
 *
 * @returns false: the next run follows on schedule
 */
export async function correctTimes(dependencies: CorrectTimesDependencies): Promise<boolean> {
  const { pool, replicas } = dependencies;
  if (!(await hasOpenCorrections(pool))) return false;
  await withJobLease(pool, 'clockCorrections', () =>
    forEachReplica(replicas, async (replica) => {
      for (const correction of await openCorrections(pool, replica.name)) {
        // Those of a stream follow each other.
        if (!correction.isReady) return;
        await correct(dependencies, replica, correction);
      }
    }),
  );
  return false;
}

async function correct(
  { pool, log }: CorrectTimesDependencies,
  { name, clickhouse }: Replica,
  correction: OpenCorrection,
): Promise<void> {
  const { id, streamId, toTs, shift } = correction;
  const of = { replica: name, stream: streamId, seconds: Math.round(shift / 1e6) };
  const isUnclear =
    correction.isAmbiguous ?? (await recordAmbiguity(pool, id, await isAmbiguous(clickhouse, correction)));
  if (isUnclear) {
    log.error(
      of,
      'the time at which the clock of this stream jumped ahead is unknown; its earlier events keep their times',
    );
    return;
  }
  let { isCopied } = correction;
  for (let from = correction.correctedTo; from <= toTs; isCopied = false) {
    const to = Math.min(from + shift, toTs + 1);
    const rows = { ...correction, from, to };
    if (!isCopied) {
      await copyCorrected(clickhouse, rows);
      await markCopied(pool, name, id);
    }
    await dropCopied(clickhouse, rows);
    await markCorrected(pool, name, id, to);
    from = to;
  }
  await finishCorrection(pool, name, id);
  log.info(of, 'corrected the times of stored events');
}

/**
 * Returns whether it is unclear which events of a correction have wrong times. When the first of them is unknown, all
 * events later than the moment of the correction count as wrong. That is right only if there are none just before that
 * moment: otherwise the clock was ahead for longer than its shift.
 */
async function isAmbiguous(clickhouse: ClickHouseClient, correction: OpenCorrection): Promise<boolean> {
  const { first, fromTs, toTs, shift } = correction;
  if (first > 0n) return false;
  const least = await firstClick(clickhouse, { ...correction, from: fromTs, to: toTs + 1 });
  if (least === null) return false;
  const between = { from: least - shift, to: Math.min(fromTs, toTs - shift + 1) };
  return between.from < between.to && (await firstClick(clickhouse, { ...correction, ...between })) !== null;
}
