import type { LogBatch } from '../../core/event-log/port.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';

/** Sequences missing between a stream's high-water mark and a batch. */
export type Gap = { streamId: string; expected: bigint; found: bigint; isAskedFor: boolean };

/**
 * The new part of a batch: its sequences from `firstFresh` to `lastFresh`. `firstFresh` is past the batch's last one
 * when all of it is duplicate. `isSentAgain`: it fills what the log had lost. `isPastEpoch`: all of it is duplicate, and
 * of an earlier epoch of the stream, which moved to another partition once this one was visible. So PostgreSQL has gone
 * back since.
 */
export type Deduplicated =
  | {
      outcome: 'known';
      stream: StreamProgress;
      firstFresh: bigint;
      lastFresh: bigint;
      duplicates: number;
      gap: Gap | null;
      isSentAgain: boolean;
      isPastEpoch: boolean;
    }
  | { outcome: 'unknown_stream' };

const COUNTER_BITS = 40n;
const COUNTER = (1n << COUNTER_BITS) - 1n;

/**
 * Compares a batch with its stream's high-water mark and advances the mark. A restarted producer may send a batch
 * twice, so events at or below the mark are duplicates. Sequences are contiguous from 0 in each epoch, so a gap is a
 * loss.
 *
 * A process that ships its journal says with each batch what it had sent before. Sequences between the mark and that
 * point are lost in the log only. They become a range of `missing`, and the process is asked to send them again. While
 * a range is missing, `visibleBefore` does not advance, because the missing events are older. They come in order: what
 * a range lacks before a batch of it never comes.
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
  return last <= stream.highWater ? belowMark(batch, last, stream) : beyondMark(batch, last, stream);
}

function beyondMark(batch: LogBatch, last: bigint, stream: StreamProgress): Deduplicated {
  const { firstSequence: first, streamId, previous } = batch;
  const { highWater } = stream;
  const firstFresh = first > highWater ? first : highWater + 1n;
  const expected = expectedAfter(highWater, first);
  const isCounterMissing = first > highWater && first > expected;
  const wasSentBetween = previous !== undefined && previous > highWater && previous < first;
  const isAskedFor = (isCounterMissing || wasSentBetween) && previous !== undefined && !stream.isRetired;
  if (isAskedFor) stream.missing = [...(stream.missing ?? []), { from: highWater + 1n, to: first - 1n }];
  // For a stream without events, what was sent before may belong to an earlier stream of the same journal.
  const isGap = isCounterMissing || (wasSentBetween && highWater >= 0n);
  stream.highWater = last;
  advanceVisible(stream, batch);
  return {
    outcome: 'known',
    stream,
    firstFresh,
    lastFresh: last,
    duplicates: Number(firstFresh - first),
    gap: isGap
      ? { streamId, expected: isCounterMissing ? expected : highWater + 1n, found: first, isAskedFor }
      : null,
    isSentAgain: false,
    isPastEpoch: false,
  };
}

function belowMark(batch: LogBatch, last: bigint, stream: StreamProgress): Deduplicated {
  const { firstSequence: first, streamId } = batch;
  const { missing = [] } = stream;
  const filled = missing.find(({ from, to }) => first <= to && last >= from);
  if (!filled) {
    advanceVisible(stream, batch);
    return {
      outcome: 'known',
      stream,
      firstFresh: stream.highWater + 1n,
      lastFresh: last,
      duplicates: batch.count,
      gap: null,
      isSentAgain: false,
      isPastEpoch: last >> COUNTER_BITS !== stream.highWater >> COUNTER_BITS,
    };
  }
  const startsBefore = first < filled.from;
  const endsAfter = last > filled.to;
  const firstFresh = startsBefore ? filled.from : first;
  const lastFresh = endsAfter ? filled.to : last;
  stream.missing = missing.flatMap((range) => {
    if (range !== filled) return [range];
    return last < filled.to ? [{ from: last + 1n, to: filled.to }] : [];
  });
  advanceVisible(stream, batch);
  const expected = expectedAfter(filled.from - 1n, firstFresh);
  return {
    outcome: 'known',
    stream,
    firstFresh,
    lastFresh,
    duplicates: batch.count - Number(lastFresh - firstFresh + 1n),
    gap: firstFresh > expected ? { streamId, expected, found: firstFresh, isAskedFor: false } : null,
    isSentAgain: true,
    isPastEpoch: false,
  };
}

/** Times of a stream strictly increase. What is missing is older than what came after it. */
function advanceVisible(stream: StreamProgress, { maxTs }: LogBatch): void {
  if ((stream.missing ?? []).length > 0) return;
  stream.visibleBefore = Math.max(stream.visibleBefore, maxTs + 1);
}

/** The greatest first sequence without a gap. */
function expectedAfter(highWater: bigint, first: bigint): bigint {
  const sameEpoch = highWater >= 0n && highWater >> COUNTER_BITS === first >> COUNTER_BITS;
  return sameEpoch ? highWater + 1n : first & ~COUNTER;
}
