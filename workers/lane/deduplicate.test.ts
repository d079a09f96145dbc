import { describe, expect, it } from 'vitest';
import type { LogBatch } from '../../core/event-log/port.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';
import { deduplicateBatch } from './deduplicate.ts';

const EPOCH = 1n << 40n;

function batch(firstSequence: bigint, count: number, maxTs = 100): LogBatch {
  const payload = new Uint8Array();
  return { offset: 0n, nextOffset: 1n, streamId: 's', firstSequence, count, minTs: 1, maxTs, payload };
}

function streamAt(highWater: bigint): StreamProgress {
  return { streamId: 's', ordinal: 0, highWater, visibleBefore: 0 };
}

function sift(highWater: bigint, given: LogBatch) {
  const stream = streamAt(highWater);
  const sifted = deduplicateBatch(given, new Map([['s', stream]]));
  if (sifted.outcome !== 'known') throw new Error('the stream is known');
  const { firstFresh, duplicates, gap } = sifted;
  return { firstFresh, duplicates, missing: gap && [gap.expected, gap.found], highWater: stream.highWater };
}

describe('deduplicateBatch', () => {
  it.each([
    ['the first batch of a stream', -1n, batch(0n, 10), 0n, 0, null, 9n],
    ['the next batch', 9n, batch(10n, 5), 10n, 0, null, 14n],
    ['a batch sent twice', 14n, batch(10n, 5), 15n, 5, null, 14n],
    ['a batch long past', 14n, batch(0n, 5), 15n, 5, null, 14n],
    ['a batch that overlaps', 11n, batch(10n, 5), 12n, 2, null, 14n],
    ['a batch after a gap', 14n, batch(20n, 5), 20n, 0, [15n, 20n], 24n],
    ['a new epoch', 14n, batch(EPOCH, 5), EPOCH, 0, null, EPOCH + 4n],
    [
      'a new epoch without its beginning',
      14n,
      batch(EPOCH + 3n, 1),
      EPOCH + 3n,
      0,
      [EPOCH, EPOCH + 3n],
      EPOCH + 3n,
    ],
    ['a stream without its beginning', -1n, batch(7n, 1), 7n, 0, [0n, 7n], 7n],
    ['an epoch that is over', EPOCH + 4n, batch(15n, 2), EPOCH + 5n, 2, null, EPOCH + 4n],
  ] as const)('%s', (_what, highWater, given, firstFresh, duplicates, missing, after) => {
    expect(sift(highWater, given)).toEqual({ firstFresh, duplicates, missing, highWater: after });
  });

  it('makes everything up to the last event visible', () => {
    const stream = streamAt(-1n);
    deduplicateBatch(batch(0n, 3, 777), new Map([['s', stream]]));
    expect(stream.visibleBefore).toBe(778);
  });

  it('recognizes an unregistered stream', () => {
    expect(deduplicateBatch(batch(0n, 1), new Map())).toEqual({ outcome: 'unknown_stream' });
  });
});
