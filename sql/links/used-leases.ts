import type { Queryable } from '../database/pool.ts';

/** Counted clicks of one stream on one link with `max_clicks`. */
export type LeaseUse = { linkId: string; streamId: string; clicks: number };

/**
 * Adds counted clicks to the leases they used. In the transaction that advances the lane, so each counts once,
 * whatever is replayed. A lease may be gone, or its link, when a backup was put back that is older than it: the lease is made
 * again, clicks of a link that is gone are left out.
 */
export async function addUsedLeases(transaction: Queryable, uses: readonly LeaseUse[]): Promise<void> {
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
