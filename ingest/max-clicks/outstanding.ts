import type { LogBatch } from '../../core/event-log/port.ts';
import type { AddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { leasesOfStream, type StreamLeases } from '../../sql/links/leases.ts';

/** Spent permits per lease of a stream: `used`, and the counted clicks that workers have not stored yet. */
export type Outstanding = { linkId: string; spent: number }[];

/**
 * Computes the permits that an earlier run of this stream spent. The result is exact even after `kill -9`: a visitor is
 * redirected only once the counted click is in the journal. Grants and returns of that run may still be running in
 * PostgreSQL; `permits.ts` waits for them, link by link.
 *
 * The journal is read before the workers' progress is read again. In the other order a journal truncated meanwhile
 * could lack clicks that the progress does not cover. No counted click is written meanwhile, since no permit is given
 * before this has ended.
 *
 * @throws when PostgreSQL or the journal can't be read, or when workers must store more first
 */
export async function readOutstanding(given: {
  pool: Pool;
  streamId: string;
  /** Batches of the stream after a sequence. */
  batchesAfter(sequence: bigint): AsyncIterable<LogBatch>;
  /**
   * Newest sequence that the journal truncated before workers stored it; -1 when there is none. Read twice, since the
   * journal may truncate meanwhile.
   */
  truncatedAhead(): bigint;
  sealer: AddressSealer;
}): Promise<Outstanding> {
  const { pool, streamId } = given;
  const before = await leasesOfStream(pool, streamId);
  if (before.leases.length === 0) return [];
  requireStored(before, given.truncatedAhead());
  const counted = await countedIn(given.batchesAfter(before.highWater), streamId, given.sealer);
  const now = await leasesOfStream(pool, streamId);
  requireStored(now, given.truncatedAhead());
  return now.leases.map(({ link_id, used }) => {
    const sequences = counted.get(link_id) ?? [];
    const unseen = sequences.filter((sequence) => sequence > now.highWater).length;
    return { linkId: link_id, spent: used + unseen };
  });
}

/** @throws when the journal lacks clicks after the high-water mark, or workers lack some before it */
function requireStored({ highWater, isMissing }: StreamLeases, truncatedAhead: bigint): void {
  if (isMissing) throw new Error('the log has lost events that are sent to it again; will retry');
  if (highWater >= truncatedAhead) return;
  throw new Error(
    `the journal was truncated to ${truncatedAhead}, but workers have stored only up to ${highWater}; will retry`,
  );
}

/**
 * Returns the sequences of a stream's counted clicks by link. A journal may also hold batches of an earlier stream,
 * which has its own leases.
 */
async function countedIn(
  batches: AsyncIterable<LogBatch>,
  streamId: string,
  sealer: AddressSealer,
): Promise<Map<string, bigint[]>> {
  const counted = new Map<string, bigint[]>();
  for await (const batch of batches) {
    if (batch.streamId !== streamId) continue;
    for (const { sequence, event } of decodeEvents(batch, sealer).events) {
      if (event.kind !== 'click' || (event.flags & CLICK_FLAGS.counted) === 0) continue;
      const link = bytesToUuid(event.linkId);
      const sequences = counted.get(link);
      if (sequences === undefined) counted.set(link, [sequence]);
      else sequences.push(sequence);
    }
  }
  return counted;
}
