import type { Queryable } from '../database/pool.ts';
import { inTransaction, type Pool } from '../database/pool.ts';

/** A stream and an hour of which a replica has other clicks than the log had. */
export type CountDifference = {
  replica: string;
  ordinal: number;
  /** Name of the stream; null: it was retired long ago. */
  stream: string | null;
  /** Hours since the epoch. */
  hour: number;
  /** Clicks that the log had. */
  counted: number;
  /** Clicks that the replica has, erased ones included. As many as counted: other ones. */
  stored: number;
};

/** When a replica was last compared, and the older hour that is next. */
export type LastComparison = { replica: string; comparedAt: Date; nextHour: number };

/** Returns when each replica was last compared. */
export async function lastComparisons(db: Queryable): Promise<LastComparison[]> {
  const { rows } = await db.query<{ replica: string; compared_at: Date; next_hour: number }>(
    'SELECT replica, compared_at, next_hour FROM count_comparisons ORDER BY replica',
  );
  return rows.map((row) => ({
    replica: row.replica,
    comparedAt: row.compared_at,
    nextHour: row.next_hour,
  }));
}

/** Returns all differences, the oldest hour first. */
export async function countDifferences(db: Queryable): Promise<CountDifference[]> {
  const { rows } = await db.query<CountDifference>(
    `SELECT replica, difference.ordinal, stream.name AS stream, hour, counted, stored
     FROM count_differences AS difference LEFT JOIN ingest_streams AS stream USING (ordinal)
     ORDER BY hour, replica, difference.ordinal`,
  );
  return rows;
}

/**
 * Records what a comparison of a range of hours has found: differences in it that were not found again are over.
 *
 * @param range.to null: all later ones
 * @returns the differences that were not known
 */
export async function recordDifferences(
  pool: Pool,
  replica: string,
  { from, to }: { from: number; to: number | null },
  found: readonly Pick<CountDifference, 'ordinal' | 'hour' | 'counted' | 'stored'>[],
): Promise<{ ordinal: number; hour: number }[]> {
  return inTransaction(pool, async (transaction) => {
    await transaction.query(
      `DELETE FROM count_differences AS known
       WHERE replica = $1 AND hour >= $2 AND ($3::int IS NULL OR hour <= $3)
         AND NOT EXISTS (SELECT FROM unnest($4::smallint[], $5::int[]) AS found (ordinal, hour)
                         WHERE found.ordinal = known.ordinal AND found.hour = known.hour)`,
      [replica, from, to, found.map(({ ordinal }) => ordinal), found.map(({ hour }) => hour)],
    );
    const { rows } = await transaction.query<{ ordinal: number; hour: number; is_new: boolean }>(
      `INSERT INTO count_differences AS known (replica, ordinal, hour, counted, stored, first_seen)
       SELECT $1, found.*, now() FROM unnest($2::smallint[], $3::int[], $4::bigint[], $5::bigint[]) AS found
       ON CONFLICT (replica, ordinal, hour) DO UPDATE SET counted = excluded.counted, stored = excluded.stored
       RETURNING ordinal, hour, first_seen = now() AS is_new`,
      [
        replica,
        found.map(({ ordinal }) => ordinal),
        found.map(({ hour }) => hour),
        found.map(({ counted }) => counted),
        found.map(({ stored }) => stored),
      ],
    );
    return rows.filter((row) => row.is_new).map(({ ordinal, hour }) => ({ ordinal, hour }));
  });
}

/** Records that a replica was compared. Differences before `oldest` are over: their hours are no longer compared. */
export async function recordComparison(
  pool: Pool,
  replica: string,
  { nextHour, oldest }: { nextHour: number; oldest: number },
): Promise<void> {
  await pool.query(
    `WITH over AS (DELETE FROM count_differences WHERE replica = $1 AND hour < $3)
     INSERT INTO count_comparisons (replica, compared_at, next_hour) VALUES ($1, clock_timestamp(), $2)
     ON CONFLICT (replica) DO UPDATE SET compared_at = excluded.compared_at, next_hour = excluded.next_hour`,
    [replica, nextHour, oldest],
  );
}
