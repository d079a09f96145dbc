import type { LogBatch } from '../../core/event-log/port.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';

/** Sequences missing between what a stream had delivered and a batch of the same epoch. */
export type Gap = { streamId: string; expected: bigint; found: bigint };

/**
 * What a batch holds that its stream had not delivered before. `firstFresh`: the least sequence to take in; past
 * the batch's last one when it is a duplicate as a whole.
 */
export type Sifted =
  | { outcome: 'known'; stream: StreamProgress; firstFresh: bigint; duplicates: number; gap: Gap | null }
  | { outcome: 'unknown_stream' };

const COUNTER_BITS = 40n;
const COUNTER = (1n << COUNTER_BITS) - 1n;

/**
 * Compares a batch with its stream's high-water mark and moves the mark over it. A producer that starts anew may
 * send a batch twice, so what is at or below the mark is dropped. Sequences are contiguous within an epoch, and
 * every epoch begins at 0: what is missing was lost on the way.
 *
 * @param streams progress by stream id; the batch's entry is changed
 */
export function siftBatch(batch: LogBatch, streams: ReadonlyMap<string, StreamProgress>): Sifted {
  const stream = streams.get(batch.streamId);
  if (!stream) return { outcome: 'unknown_stream' };
  const last = batch.firstSequence + BigInt(batch.count) - 1n;
  const next = stream.highWater + 1n;
  const firstFresh = batch.firstSequence > stream.highWater ? batch.firstSequence : next;
  const duplicates = firstFresh > last + 1n ? batch.count : Number(firstFresh - batch.firstSequence);
  const expected = expectedAfter(stream.highWater, batch.firstSequence);
  const gap =
    batch.firstSequence > stream.highWater && batch.firstSequence > expected
      ? { streamId: batch.streamId, expected, found: batch.firstSequence }
      : null;
  if (last > stream.highWater) stream.highWater = last;
  // Times of a stream strictly increase, so everything up to the batch's last event has been seen.
  stream.visibleBefore = Math.max(stream.visibleBefore, batch.maxTs + 1);
  return { outcome: 'known', stream, firstFresh, duplicates, gap };
}

/** The greatest first sequence that leaves nothing out. */
function expectedAfter(highWater: bigint, first: bigint): bigint {
  const sameEpoch = highWater >= 0n && highWater >> COUNTER_BITS === first >> COUNTER_BITS;
  return sameEpoch ? highWater + 1n : first & ~COUNTER;
}
