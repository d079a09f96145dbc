import { copyMissed } from '../../clickhouse/copies/copy-missed.ts';
import { microsOf, rowsAt } from '../../clickhouse/copies/moments.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { replicaBehindSince } from '../../sql/event-log/replica-marks.ts';
import {
  type CopiedTable,
  copyableOf,
  missRollUps,
  recordRepaired,
} from '../../sql/event-log/replica-repairs.ts';
import { copyFrom } from './copy-from.ts';

/** Rows that one statement names. Of clicks fewer: an insert of them has their names in its address. */
const CHUNK = { attributed_shares: 1_000, identifies: 1_000, removed_clicks: 1_000, clicks: 200 } as const;

/**
 * Copies rows of a table that a replica has missed from one that has them. While the replica is behind a lane, it gets
 * only rows before that: it may read the same events from the log.
 *
 * @returns whether it may have missed more
 */
export async function repairRows(
  { pool, replicas }: { pool: Pool; replicas: readonly Replica[] },
  replica: Replica,
  table: CopiedTable,
): Promise<boolean> {
  const missed = await copyableOf(pool, replica.name, table, CHUNK[table]);
  if (missed.length === 0) return false;
  const since = (await replicaBehindSince(pool, replica.name)) ?? Number.POSITIVE_INFINITY;
  const due = missed.filter(({ subject }) => microsOf(subject) < since);
  for (const some of Map.groupBy(due, ({ sources, areWhole }) => `${areWhole} ${sources.join()}`).values()) {
    const rows = rowsAt(
      table,
      some.map(({ subject }) => subject),
    );
    await copyFrom(replicas, some[0], ({ clickhouse }) => copyMissed(clickhouse, replica.clickhouse, rows));
  }
  await inTransaction(pool, async (tx) => {
    if (table === 'clicks' && due.length > 0) await missRollUps(tx, replica.name);
    await recordRepaired(tx, replica.name, table, due);
  });
  return missed.length === CHUNK[table] && due.length > 0;
}
