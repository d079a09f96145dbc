import type { Queryable } from '../database/pool.ts';

/** Longer than Kafka keeps records by default, and than dead letters should wait. */
const RETIRED_FOR = '30 days';
/** Times of a new stream begin at the watermark. This far before it, no event of a former one is among its times. */
const BEHIND_MICROS = 86_400_000_000;

/**
 * Releases the ordinals of streams that were retired long ago, once nothing refers to them: no dead letter to replay,
 * no waiting report, no open correction, and no event near the watermark. An event of it that still arrives becomes a
 * dead letter, as of an unknown stream. Its row stays, so a process with its journal registers a new stream. Its permits
 * of `max_clicks` stay granted: visitors whose clicks were lost with its disk may have used them.
 *
 * @returns how many were released
 */
export async function releaseOrdinals(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ released: number }>(
    `WITH released AS (
       UPDATE ingest_streams AS stream SET ordinal = NULL
       WHERE ordinal IS NOT NULL AND state = 'retired' AND retired_at < now() - $1::interval
         AND visible_before + $2 < (SELECT min(visible_before) FROM ingest_streams WHERE state = 'active')
         AND NOT EXISTS (SELECT FROM dead_letters AS l WHERE l.stream_id = stream.stream_id AND l.replayed_at IS NULL)
         AND NOT EXISTS (SELECT FROM waiting_reports AS w WHERE w.stream_id = stream.stream_id)
         AND NOT EXISTS (SELECT FROM clock_corrections AS c JOIN replica_corrections ON correction_id = c.id
           WHERE c.stream_id = stream.stream_id)
       RETURNING stream_id)
     SELECT count(*)::int AS released FROM released`,
    [RETIRED_FOR, BEHIND_MICROS],
  );
  return rows[0]?.released ?? 0;
}
