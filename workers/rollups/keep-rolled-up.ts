import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { rollUp } from '../../clickhouse/rollups/roll-up.ts';
import type { Logger } from '../../core/tier/log.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { rolledUp, rollUpDue } from '../../sql/event-log/click-imports.ts';
import { watermark } from '../../sql/event-log/streams.ts';

export type RollUpDependencies = { pool: Pool; clickhouse: ClickHouseClient; log: Logger };

/**
 * Rolls up the days and months that the watermark has passed. Afterwards only an erasure or a retired stream changes a
 * day; the next run rolls it up again.
 *
 * @returns false: the next run follows on schedule
 */
export async function keepRolledUp(dependencies: RollUpDependencies): Promise<boolean> {
  await rollUpClosed(dependencies);
  return false;
}

/**
 * Rolls up the days that imports of clicks have changed, or imports that were undone.
 *
 * @returns false: the next run follows on schedule
 */
export async function rollUpImports(dependencies: RollUpDependencies): Promise<boolean> {
  const due = await rollUpDue(dependencies.pool);
  if (due !== null && (await rollUpClosed(dependencies))) await rolledUp(dependencies.pool, due);
  return false;
}

/** @returns false when another process is rolling up, or no day has ended */
async function rollUpClosed({ pool, clickhouse, log }: RollUpDependencies): Promise<boolean> {
  const micros = await watermark(pool);
  if (micros === null) return false;
  const closed = new Date(micros / 1_000).toISOString().slice(0, 10);
  const outcome = await withJobLease(pool, 'rollups', () => rollUp(clickhouse, closed));
  if (outcome !== null && outcome.made.length > 0) {
    log.info({ closed, made: outcome.made.length, newest: outcome.made.at(-1) }, 'rolled up clicks');
  }
  return outcome !== null;
}
