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

  it.each([
    ['sent twice', EPOCH + 14n, batch(EPOCH + 10n, 5), false],
    ['of an epoch that is over', EPOCH + 4n, batch(10n, 5), true],
    ['that is new', 14n, batch(EPOCH, 5), false],
  ] as const)(
    'tells of a batch %s whether PostgreSQL has gone back',
    (_what, highWater, given, isPastEpoch) => {
      expect(deduplicateBatch(given, new Map([['s', streamAt(highWater)]]))).toMatchObject({ isPastEpoch });
    },
  );

  it('makes everything up to the last event visible', () => {
    const stream = streamAt(-1n);
    deduplicateBatch(batch(0n, 3, 777), new Map([['s', stream]]));
    expect(stream.visibleBefore).toBe(778);
  });

  describe('of a process that can send again what the log has lost', () => {
    const sentAfter = (previous: bigint, given: LogBatch) => ({ ...given, previous });

    /** Passes batches on, one after the other. Returns the fresh sequences of each. */
    function pass(stream: StreamProgress, ...batches: LogBatch[]): string[] {
      return batches.map((given) => {
        const found = deduplicateBatch(given, new Map([['s', stream]]));
        if (found.outcome !== 'known') throw new Error('the stream is known');
        const { firstFresh, lastFresh, isSentAgain } = found;
        return `${firstFresh}-${lastFresh}${isSentAgain ? ' again' : ''}`;
      });
    }

    it('takes what is missing once, in any pieces, and makes nothing visible meanwhile', () => {
      const stream = streamAt(9n);
      expect(pass(stream, sentAfter(9n, batch(10n, 5, 50)), sentAfter(29n, batch(30n, 5, 300)))).toEqual([
        '10-14',
        '30-34',
      ]);
      expect(stream).toMatchObject({ missing: [{ from: 15n, to: 29n }], visibleBefore: 51, highWater: 34n });
      expect(pass(stream, batch(12n, 8, 150), batch(12n, 8, 150), batch(20n, 12, 310))).toEqual([
        '15-19 again',
        '35-19',
        '20-29 again',
      ]);
      expect(stream).toMatchObject({ missing: [], visibleBefore: 311, highWater: 34n });
    });

    it('finds what is missing at the end of an epoch, whose last sequence is not known', () => {
      const stream = streamAt(9n);
      pass(stream, sentAfter(24n, batch(EPOCH, 5)));
      expect(stream.missing).toEqual([{ from: 10n, to: EPOCH - 1n }]);
      expect(pass(stream, batch(10n, 15), sentAfter(EPOCH + 4n, batch(EPOCH + 5n, 1)))).toEqual([
        '10-24 again',
        `${EPOCH + 5n}-${EPOCH + 5n}`,
      ]);
      expect(stream.missing).toEqual([{ from: 25n, to: EPOCH - 1n }]);
    });

    it('waits for nothing before a piece that was sent again, and reports it', () => {
      const stream = streamAt(9n);
      pass(stream, sentAfter(29n, batch(30n, 5)));
      const found = deduplicateBatch(batch(20n, 5), new Map([['s', stream]]));
      expect(found).toMatchObject({ gap: { expected: 10n, found: 20n, isAskedFor: false }, duplicates: 0 });
      expect(stream.missing).toEqual([{ from: 25n, to: 29n }]);
    });

    it('asks for nothing that the process never sent, nor of a retired stream', () => {
      const restarted = streamAt(9n);
      pass(restarted, sentAfter(9n, batch(EPOCH, 5)));
      expect(restarted.missing ?? []).toEqual([]);
      const retired = { ...streamAt(9n), isRetired: true };
      pass(retired, sentAfter(29n, batch(30n, 5)));
      expect(retired.missing ?? []).toEqual([]);
    });
  });

  it('recognizes an unregistered stream', () => {
    expect(deduplicateBatch(batch(0n, 1), new Map())).toEqual({ outcome: 'unknown_stream' });
  });
});
