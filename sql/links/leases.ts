import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';

/**
 * Leases of a link's `max_clicks`: a stream redirects at most as many visitors as it has permits. The sum of `granted`
 * never exceeds `max_clicks`. Workers add to `used` in the transaction that advances a lane. After a restored backup
 * `used` may exceed `granted`: workers count clicks again that are newer than the backup. Then `used` counts as the
 * stream's total.
 */

/** State of a link's permits after a request. */
export type LeaseResult =
  /** `granted` is the stream's own total. `remaining`: not granted to any stream. */
  | { kind: 'granted'; granted: number; remaining: number }
  /**
   * No permit is left to grant. `spent`: the other streams have used all their permits too, so this is final unless
   * `max_clicks` is raised. `excess`: permits granted beyond a lowered limit.
   */
  | { kind: 'none_left'; granted: number; spent: boolean; excess: number }
  /** The link is deleted; some are restored later. */
  | { kind: 'gone'; granted: number }
  /** The link has no limit now. */
  | { kind: 'unlimited' };

/** Most permits that one request takes beyond those it needs at once. */
const LARGEST_CHUNK = 1_024;
/** A chunk is at most this fraction of the remaining permits, so that processes share the end of a campaign evenly. */
const CHUNK_DIVISOR = 16;

/**
 * Leases permits to a stream: as many as are `needed`, or a larger chunk that shrinks with the remainder.
 *
 * @param needed visitors that wait now; 0 only reads the state
 */
export async function leasePermits(
  pool: Pool,
  given: { linkId: string; streamId: string; needed: number },
): Promise<LeaseResult> {
  const { linkId, streamId, needed } = given;
  return inTransaction(pool, async (tx) => {
    // The lock is a statement of its own: the next one then sees what earlier holders committed.
    const { rows: links } = await tx.query<{ max_clicks: number | null }>(
      `SELECT max_clicks - used_elsewhere AS max_clicks FROM links WHERE id = $1 AND deleted_at IS NULL
       FOR NO KEY UPDATE`,
      [linkId],
    );
    const [link] = links;
    if (link?.max_clicks === null) return { kind: 'unlimited' };
    // Permits of a retired stream are never used or returned, so they are not idle.
    const { rows } = await tx.query<{ total: number; held: number; own: number; others_idle: number }>(
      `SELECT coalesce(sum(granted), 0)::bigint AS total,
              coalesce(sum(greatest(granted, used)), 0)::bigint AS held,
              coalesce(sum(granted) FILTER (WHERE stream_id = $2), 0)::bigint AS own,
              coalesce(sum(greatest(granted - used, 0))
                FILTER (WHERE stream_id <> $2 AND state = 'active'), 0)::bigint AS others_idle
       FROM link_leases JOIN ingest_streams USING (stream_id) WHERE link_id = $1`,
      [linkId, streamId],
    );
    const { total, held, own, others_idle } = rows[0] ?? { total: 0, held: 0, own: 0, others_idle: 0 };
    if (link === undefined) return { kind: 'gone', granted: own };
    const left = link.max_clicks - held;
    if (left <= 0) {
      const excess = Math.max(0, total - link.max_clicks);
      return { kind: 'none_left', granted: own, spent: others_idle === 0, excess };
    }
    if (needed === 0) return { kind: 'granted', granted: own, remaining: left };
    const chunk = Math.min(LARGEST_CHUNK, Math.ceil(left / CHUNK_DIVISOR));
    const take = Math.min(left, Math.max(needed, chunk));
    const { rows: leased } = await tx.query<{ granted: number }>(
      `INSERT INTO link_leases (link_id, stream_id, granted) VALUES ($1, $2, $3)
       ON CONFLICT (link_id, stream_id)
         DO UPDATE SET granted = greatest(link_leases.granted, link_leases.used) + excluded.granted
       RETURNING granted`,
      [linkId, streamId, take],
    );
    return { kind: 'granted', granted: leased[0]?.granted ?? own + take, remaining: left - take };
  });
}

/** A stream's lease of a link; all zeros when it never leased permits. */
export type Lease = { granted: number; used: number; generation: number };

/**
 * Claims a stream's lease: waits for concurrent changes, returns the state, and invalidates every return of permits
 * that was sent before, even if it arrives later. A repeated claim only raises the generation.
 *
 * @throws when the lease stays locked for longer than the statement timeout
 */
export async function claimLease(db: Queryable, given: { linkId: string; streamId: string }): Promise<Lease> {
  const { rows } = await db.query<Lease>(
    `UPDATE link_leases SET generation = generation + 1 WHERE link_id = $1 AND stream_id = $2
     RETURNING granted, used, generation`,
    [given.linkId, given.streamId],
  );
  return rows[0] ?? { granted: 0, used: 0, generation: 0 };
}

/**
 * Returns permits that a stream has not used.
 *
 * @param generation of the lease, from the last {@link claimLease}
 * @returns the stream's own total now; null when the lease was claimed since, and nothing was returned
 */
export async function returnPermits(
  db: Queryable,
  given: { linkId: string; streamId: string; count: number; generation: number },
): Promise<number | null> {
  const { rows } = await db.query<{ granted: number }>(
    `UPDATE link_leases SET granted = granted - $3 WHERE link_id = $1 AND stream_id = $2 AND generation = $4
     RETURNING granted`,
    [given.linkId, given.streamId, given.count, given.generation],
  );
  return rows[0]?.granted ?? null;
}

/** The leases of a stream in PostgreSQL, and up to which event its use has been counted. */
export type StreamLeases = {
  /** Sequence of the last event whose use is in `used`; -1n: none. */
  highWater: bigint;
  /** The log has lost some events before that. */
  isMissing: boolean;
  leases: { link_id: string; used: number }[];
};

/**
 * Returns the leases of a stream that are not used up, and the stream's high-water mark, as of one moment. Without
 * `granted`: a return may be under way, and only {@link claimLease} waits for it.
 */
export async function leasesOfStream(db: Queryable, streamId: string): Promise<StreamLeases> {
  // One statement reads one snapshot, so the high-water mark and the use up to it are consistent.
  const { rows } = await db.query<{
    high_water: string;
    is_missing: boolean;
    link_id: string | null;
    used: number;
  }>(
    `SELECT s.high_water, s.missing <> '[]' AS is_missing, l.link_id, l.used
     FROM ingest_streams s LEFT JOIN link_leases l ON l.stream_id = s.stream_id AND l.granted <> l.used
     WHERE s.stream_id = $1`,
    [streamId],
  );
  const leases = rows.flatMap(({ link_id, used }) => (link_id === null ? [] : [{ link_id, used }]));
  const [first] = rows;
  return { highWater: BigInt(first?.high_water ?? -1), isMissing: first?.is_missing ?? false, leases };
}

/** Counted clicks of one stream on one link with `max_clicks`. */
export type PermitUse = { linkId: string; streamId: string; clicks: number };

/**
 * Adds counted clicks to the leases they used, in the transaction that advances the lane, so that each counts once.
 * After a restored backup the lease or its link may be missing: a missing lease is inserted, clicks of a missing link
 * are left out.
 */
export async function addUsedPermits(transaction: Queryable, uses: readonly PermitUse[]): Promise<void> {
  if (uses.length === 0) return;
  // Sorted, so that two lanes never deadlock.
  const sorted = [...uses].sort((a, b) => (`${a.linkId}${a.streamId}` < `${b.linkId}${b.streamId}` ? -1 : 1));
  await transaction.query(
    `WITH counted AS (
       SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS counted (link_id, stream_id, clicks)),
     known AS (
       UPDATE link_leases AS lease SET used = lease.used + counted.clicks FROM counted
       WHERE lease.link_id = counted.link_id AND lease.stream_id = counted.stream_id
       RETURNING lease.link_id, lease.stream_id)
     INSERT INTO link_leases AS lease (link_id, stream_id, used)
     SELECT link_id, stream_id, clicks FROM counted
     WHERE NOT EXISTS (SELECT FROM known WHERE known.link_id = counted.link_id AND known.stream_id = counted.stream_id)
       AND EXISTS (SELECT FROM links WHERE id = counted.link_id)
     ON CONFLICT (link_id, stream_id) DO UPDATE SET used = lease.used + excluded.used`,
    [sorted.map((use) => use.linkId), sorted.map((use) => use.streamId), sorted.map((use) => use.clicks)],
  );
}
