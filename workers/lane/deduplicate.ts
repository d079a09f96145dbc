import type { LogBatch } from '../../core/event-log/port.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';

/** Sequences missing between a stream's high-water mark and a batch of the same epoch. */
export type Gap = { streamId: string; expected: bigint; found: bigint };

/**
 * The new part of a batch. `firstFresh` is its least sequence; past the batch's last one when all of it is duplicate.
 */
export type Deduplicated =
  | { outcome: 'known'; stream: StreamProgress; firstFresh: bigint; duplicates: number; gap: Gap | null }
  | { outcome: 'unknown_stream' };

const COUNTER_BITS = 40n;
const COUNTER = (1n << COUNTER_BITS) - 1n;

/**
 * Compares a batch with its stream's high-water mark and advances the mark. A restarted producer may send a batch twice, so
 * events at or below the mark are duplicates. Sequences are contiguous from 0 in each epoch, so a gap is a loss.
 *
 * @param streams progress by stream id; the batch's entry is changed
 */
export function deduplicateBatch(
  batch: LogBatch,
  streams: ReadonlyMap<string, StreamProgress>,
): Deduplicated {
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
  // Times of a stream strictly increase.
  stream.visibleBefore = Math.max(stream.visibleBefore, batch.maxTs + 1);
  return { outcome: 'known', stream, firstFresh, duplicates, gap };
}

/** The greatest first sequence without a gap. */
function expectedAfter(highWater: bigint, first: bigint): bigint {
  const sameEpoch = highWater >= 0n && highWater >> COUNTER_BITS === first >> COUNTER_BITS;
  return sameEpoch ? highWater + 1n : first & ~COUNTER;
}
