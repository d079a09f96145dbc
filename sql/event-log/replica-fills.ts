import type { MissingRange } from '../../core/event-log/port.ts';
import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';
import { type MissingRecord, rangesAbove } from './missing.ts';

/**
 * A stream at the moment at which a replica was added. The replica gets the later events from the log, and the earlier
 * ones from another replica.
 */
export type StreamMark = {
  ordinal: number;
  /** The first sequence that the log gives. */
  next: bigint;
  /** Earlier sequences that the log gives, too. */
  missing: MissingRange[];
};

/** SQL: the row of `replica_repairs` while a replica is being filled. Nothing is repaired while it is there. */
export const IS_FILL = `work = 'fill'`;
/** SQL: each lane is taken again, so that its holder reads which replicas there are. */
const TAKE_LANES_AGAIN = `UPDATE log_lanes SET epoch = epoch + 1, held_by = NULL, held_until = NULL WHERE consumer = 'store'`;
/**
 * A lane that is taken for the first time meanwhile would not know the replica, and would not be known here. A lane that
 * locked its row advances before this lock is granted: a weaker one would wait for it in a circle.
 */
const LOCK_LANES = 'LOCK TABLE log_lanes IN EXCLUSIVE MODE';

/**
 * Adds a replica that gets events from the log from now on, and is filled with earlier ones from another replica.
 * Writes from other sources are recorded as missed from now on.
 *
 * @returns false when it exists
 */
export async function addUnfilledReplica(pool: Pool, name: string): Promise<boolean> {
  return inTransaction(pool, (transaction) => insertUnfilledReplica(transaction, name));
}

/** Is {@link addUnfilledReplica} in a transaction. */
export async function insertUnfilledReplica(transaction: Queryable, name: string): Promise<boolean> {
  await transaction.query(LOCK_LANES);
  const { rowCount } = await transaction.query(
    `INSERT INTO replicas (name, log_from)
       SELECT $1, coalesce(jsonb_agg(jsonb_build_object('ordinal', ordinal, 'next', (high_water + 1)::text,
         'missing', missing, 'unsendable', unsendable::text)), '[]') FROM ingest_streams WHERE ordinal IS NOT NULL
       ON CONFLICT (name) DO NOTHING`,
    [name],
  );
  if (rowCount === 0) return false;
  await transaction.query(
    `INSERT INTO replica_lanes (replica, partition, next_offset)
       SELECT $1, partition, next_offset FROM log_lanes WHERE consumer = 'store'`,
    [name],
  );
  await transaction.query(`INSERT INTO replica_repairs (replica, work, subject) VALUES ($1, 'fill', 'all')`, [
    name,
  ]);
  // Days may be copied before another replica has corrected them.
  await transaction.query(
    `INSERT INTO replica_corrections (replica, correction_id, corrected_to)
       SELECT DISTINCT $1, id, from_ts FROM replica_corrections JOIN clock_corrections ON id = correction_id`,
    [name],
  );
  await transaction.query(TAKE_LANES_AGAIN);
  return true;
}

/** Returns from where on the log gives a replica its events. */
export async function streamMarks(db: Queryable, name: string): Promise<StreamMark[]> {
  const { rows } = await db.query<{
    marks: { ordinal: number; next: string; missing: MissingRecord; unsendable: string }[] | null;
  }>('SELECT log_from AS marks FROM replicas WHERE name = $1', [name]);
  return (rows[0]?.marks ?? []).map(({ ordinal, next, missing, unsendable }) => ({
    ordinal,
    next: BigInt(next),
    missing: rangesAbove(missing, BigInt(unsendable)),
  }));
}

/** Records that a replica is filled. It is repaired then: it gets what it has missed, and its roll-ups. */
export async function recordFilled(pool: Pool, name: string): Promise<void> {
  await inTransaction(pool, async (transaction) => {
    const { rowCount } = await transaction.query(
      `DELETE FROM replica_repairs WHERE replica = $1 AND ${IS_FILL}`,
      [name],
    );
    if (rowCount === 0) return;
    await transaction.query(
      `INSERT INTO replica_repairs (replica, work, subject) VALUES ($1, 'roll_ups', 'all') ON CONFLICT DO NOTHING`,
      [name],
    );
  });
}

/** Lets a replica be read while it has missed nothing. */
export async function letBeRead(db: Queryable, name: string): Promise<void> {
  await db.query('UPDATE replicas SET is_readable = true WHERE name = $1', [name]);
}

/**
 * Removes a replica: nothing is written to it, and nobody reads it.
 *
 * @returns why it stays: it does not exist, or it is the only one that is used
 */
export async function dropReplica(pool: Pool, name: string): Promise<'dropped' | 'unknown' | 'last'> {
  return inTransaction(pool, async (transaction) => {
    await transaction.query(LOCK_LANES);
    const { rows } = await transaction.query<{ name: string; is_readable: boolean }>(
      'SELECT name, is_readable FROM replicas FOR UPDATE',
    );
    if (!rows.some((row) => row.name === name)) return 'unknown';
    if (!rows.some((row) => row.name !== name && row.is_readable)) return 'last';
    await transaction.query('DELETE FROM replica_lanes WHERE replica = $1', [name]);
    await transaction.query('DELETE FROM replicas WHERE name = $1', [name]);
    await transaction.query(TAKE_LANES_AGAIN);
    return 'dropped';
  });
}
