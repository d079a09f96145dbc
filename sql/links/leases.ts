import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';

/**
 * Leases of a link's `max_clicks`: a stream may let through as many visitors as it was granted. The sum of what is
 * granted never exceeds `max_clicks`. `used` is moved by the workers, in the transaction that advances a lane. It is more
 * than was granted where a backup was put back and workers took in again what was clicked after it: then it is what holds.
 */

/** How a link's credits stand after a request. */
export type LeaseResult =
  /** `granted` is the stream's own total now. `remaining`: not granted to anybody yet. */
  | { kind: 'granted'; granted: number; remaining: number }
  /**
   * Nothing is left to grant. `spent`: every credit of the other streams has been used as well, so it stays so
   * unless `max_clicks` is raised. `excess`: what is granted beyond a limit that was lowered.
   */
  | { kind: 'none_left'; granted: number; spent: boolean; excess: number }
  /** The link is deleted, for now: some come back. */
  | { kind: 'gone'; granted: number }
  /** The link has no limit any more. */
  | { kind: 'unlimited' };

/** Largest number of credits that one request takes beyond those it needs at once. */
const LARGEST_CHUNK = 1_024;
/** A chunk is at most this part of what is left, so that processes share the end of a campaign evenly. */
const CHUNK_DIVISOR = 16;

/**
 * Leases credits to a stream: as many as are `needed` at once, or more, in a chunk that shrinks with the remainder.
 *
 * @param needed visitors that wait now; 0 only looks
 */
export async function leasePermits(
  pool: Pool,
  given: { linkId: string; streamId: string; needed: number },
): Promise<LeaseResult> {
  const { linkId, streamId, needed } = given;
  return inTransaction(pool, async (tx) => {
    // The lock comes in a statement of its own: the next one then sees what earlier holders have committed.
    const { rows: links } = await tx.query<{ max_clicks: number | null }>(
      'SELECT max_clicks FROM links WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
      [linkId],
    );
    const [link] = links;
    if (link?.max_clicks === null) return { kind: 'unlimited' };
    // What a retired stream has left is never used and never given back: nobody is to wait for it.
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

/** A stream's lease of a link. A link that it never leased credits of has none of anything. */
export type Lease = { granted: number; used: number; generation: number };

/**
 * Waits for whatever is under way on a stream's lease, tells how it stands and voids every give-back sent before: one
 * that PostgreSQL gets to later changes nothing. Asked again it only costs those their generation who asked before.
 *
 * @throws when the lease is held for longer than a statement may take
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
 * Gives credits back that a stream has not used.
 *
 * @param generation of the lease, as the last {@link claimLease} told it
 * @returns the stream's own total now; null: the lease has been claimed since, and nothing was given back
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

/** What a stream holds according to the store, and up to which event its use has been counted. */
export type StreamLeases = {
  /** Sequence of the last event whose use is in `used`; -1n: none. */
  highWater: bigint;
  leases: { link_id: string; used: number }[];
};

/**
 * The leases of a stream that are not used up, and the stream's high-water mark, as of one moment. What it was granted
 * is not told here: a give-back may be under way, and only {@link claimLease} waits for it.
 */
export async function leasesOfStream(db: Queryable, streamId: string): Promise<StreamLeases> {
  // One statement, one snapshot: the mark and the use that it covers belong together.
  const { rows } = await db.query<{
    high_water: string;
    link_id: string | null;
    used: number;
  }>(
    `SELECT s.high_water, l.link_id, l.used
     FROM ingest_streams s LEFT JOIN link_leases l ON l.stream_id = s.stream_id AND l.granted <> l.used
     WHERE s.stream_id = $1`,
    [streamId],
  );
  const leases = rows.flatMap(({ link_id, used }) => (link_id === null ? [] : [{ link_id, used }]));
  return { highWater: BigInt(rows[0]?.high_water ?? -1), leases };
}

/** Counted clicks of one stream on one link with `max_clicks`. */
export type PermitUse = { linkId: string; streamId: string; clicks: number };

/**
 * Adds counted clicks to the leases they used. In the transaction that advances the lane, so each counts once,
 * whatever is replayed. A lease may be gone, or its link, when a backup was put back that is older than it: the lease is made
 * again, clicks of a link that is gone are left out.
 */
export async function addUsedPermits(transaction: Queryable, uses: readonly PermitUse[]): Promise<void> {
  if (uses.length === 0) return;
  // Sorted, so that two lanes never wait for each other's rows.
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
