import type { Queryable } from '../database/pool.ts';

/** Progress of the event log, for `hoplog status`. Times are microseconds since the epoch. */
export type Progress = {
  streams: { name: string; ordinal: number; state: 'active' | 'retired'; visible_before: number }[];
  lanes: { consumer: string; partition: string; next_offset: string; updated_at: Date; replaying: boolean }[];
  /** Streams whose events are still being corrected after their clock was ahead. */
  clock_corrections: number;
  /** Dead letters not replayed. */
  dead_letters: number;
  /** Orders that wait for attribution. */
  orders_unattributed: number;
};

/** Returns the progress of every stream and lane. */
export async function readProgress(db: Queryable): Promise<Progress> {
  const streams = await db.query<Progress['streams'][number]>(
    'SELECT name, ordinal, state, visible_before FROM ingest_streams WHERE ordinal IS NOT NULL ORDER BY ordinal',
  );
  const lanes = await db.query<Progress['lanes'][number]>(
    `SELECT consumer, partition, next_offset, updated_at, intent IS NOT NULL AS replaying
     FROM log_lanes ORDER BY consumer, partition`,
  );
  const { rows } = await db.query<
    Pick<Progress, 'clock_corrections' | 'dead_letters' | 'orders_unattributed'>
  >(
    `SELECT (SELECT count(DISTINCT correction_id) FROM replica_corrections) AS clock_corrections,
            (SELECT count(*) FROM dead_letters WHERE replayed_at IS NULL) AS dead_letters,
            (SELECT count(*) FROM orders WHERE attributed_version IS DISTINCT FROM version) AS orders_unattributed`,
  );
  return {
    clock_corrections: 0,
    dead_letters: 0,
    orders_unattributed: 0,
    ...rows[0],
    streams: streams.rows,
    lanes: lanes.rows,
  };
}
