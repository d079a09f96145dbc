import type { LogBatch } from '../../core/event-log/port.ts';
import type { AddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { leasesOfStream } from '../../sql/links/leases.ts';

/**
 * What a stream's visitors have spent of each lease that is not known to be used up: `used`, and the counted clicks that
 * workers have not seen yet.
 */
export type Outstanding = { linkId: string; spent: number }[];

/**
 * Works out what an earlier run of this stream has spent, exact also after a `kill -9`: a visit is let through only
 * when its counted click is in the journal. What it was granted is not settled yet: a give-back or a grant of that run
 * may still be under way in PostgreSQL, which `credits.ts` waits for, link by link.
 *
 * The journal is read first and the workers' progress second. Workers may free what they have inserted, so a journal
 * read after the progress could lack clicks that the progress does not cover yet. Nothing counted is written
 * meanwhile, because nothing is let through before this has ended.
 *
 * @throws when PostgreSQL or the journal can't be read, or workers have to come further first
 */
export async function readOutstanding(given: {
  pool: Pool;
  streamId: string;
  /** The stream's own batches that hold anything beyond a sequence. */
  batchesAfter(sequence: bigint): AsyncIterable<LogBatch>;
  /**
   * The newest sequence that the journal no longer holds although workers may not have stored it; -1: none. Asked again,
   * because the journal goes on freeing while it is read.
   */
  truncatedAhead(): bigint;
  sealer: AddressSealer;
}): Promise<Outstanding> {
  const { pool, streamId } = given;
  const before = await leasesOfStream(pool, streamId);
  if (before.leases.length === 0) return [];
  insistOn(before.highWater, given.truncatedAhead());
  const counted = await countedIn(given.batchesAfter(before.highWater), streamId, given.sealer);
  const now = await leasesOfStream(pool, streamId);
  insistOn(now.highWater, given.truncatedAhead());
  return now.leases.map(({ link_id, used }) => {
    const sequences = counted.get(link_id) ?? [];
    const unseen = sequences.filter((sequence) => sequence > now.highWater).length;
    return { linkId: link_id, spent: used + unseen };
  });
}

/** @throws when the journal lacks what the mark does not cover */
function insistOn(highWater: bigint, truncatedAhead: bigint): void {
  if (highWater >= truncatedAhead) return;
  throw new Error(
    'workers have not stored what the journal gave up under pressure: asked again until they have',
  );
}

/** Sequences of a stream's counted clicks by link. A journal may also hold an earlier stream's, which has leases of its own. */
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
