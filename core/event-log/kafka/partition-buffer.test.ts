import { expect, test } from 'vitest';
import { retainedByReads, STRAY_OBJECTS } from '../../../test/support/retained-objects.ts';
import { PartitionBuffer } from './partition-buffer.ts';
import { toMessage } from './record.ts';

const never = new AbortController().signal;

function message(offset: number) {
  const record = toMessage(
    {
      offset: 0n,
      nextOffset: 1n,
      streamId: '01a1fd81-2a35-7000-b576-f6765cc766a2',
      firstSequence: BigInt(offset),
      count: 1,
      minTs: 1,
      maxTs: 1,
      payload: Buffer.alloc(100),
    },
    0,
  );
  return { offset: String(offset), value: Buffer.from(record.value ?? ''), headers: record.headers };
}

/** A fetch from `requested` with these offsets, and records that are not messages up to `end`. */
function fetched(requested: number, offsets: number[], end = (offsets.at(-1) ?? requested) + 1) {
  return { requested: BigInt(requested), end: BigInt(end), messages: offsets.map(message) };
}

const sequences = ({ batches }: { batches: { firstSequence: bigint }[] }) =>
  batches.map(({ firstSequence }) => Number(firstSequence));

test('a fetch is read in order, and the next offset follows it', () => {
  const buffer = new PartitionBuffer();
  expect(buffer.offer(fetched(0, [0, 1]))).toBe('taken');
  expect(buffer.offer(fetched(2, [3], 6))).toBe('taken'); // 2 is a hole, 4 and 5 are no messages
  expect(buffer.position).toBe(6n);
  expect(buffer.moveTo(0n)).toBe(false);
  const first = buffer.take(150);
  expect(sequences(first)).toEqual([0, 1]);
  expect(first.nextOffset).toBe(2n);
  const rest = buffer.take(1_000);
  expect(sequences(rest)).toEqual([3]);
  expect(rest.nextOffset).toBe(4n);
});

test('a reader that moves back takes nothing of a fetch that its seek has overtaken', () => {
  const buffer = new PartitionBuffer();
  buffer.offer(fetched(0, [0, 1, 2, 3]));
  buffer.take(10_000);
  expect(buffer.moveTo(1n)).toBe(true);
  expect(buffer.offer(fetched(4, [4, 5]))).toBe('ahead');
  expect(buffer.take(10_000)).toEqual({ batches: [], damage: [], nextOffset: 1n });
  expect(buffer.offer(fetched(1, [1, 2, 3]))).toBe('taken');
  expect(sequences(buffer.take(10_000))).toEqual([1, 2, 3]);
});

test('a reader that moves forward drops what was fetched', () => {
  const buffer = new PartitionBuffer();
  buffer.offer(fetched(0, [0]));
  expect(buffer.moveTo(10n)).toBe(true);
  expect(buffer.offer(fetched(1, [1, 2]))).toBe('behind');
  expect(buffer.position).toBe(10n);
  expect(buffer.offer(fetched(9, [9, 10]))).toBe('taken');
  expect(sequences(buffer.take(1_000))).toEqual([10]);
});

test('a client that restarts must seek, and nothing is read twice', () => {
  const buffer = new PartitionBuffer();
  buffer.offer(fetched(0, [0, 1]));
  buffer.take(1_000);
  expect(buffer.offer(fetched(0, [0]))).toBe('behind');
  expect(buffer.offer(fetched(0, [0, 1, 2]))).toBe('taken');
  expect(sequences(buffer.take(1_000))).toEqual([2]);
});

test('expired records are reported as damage', () => {
  const buffer = new PartitionBuffer();
  buffer.skipTo(7n);
  expect(buffer.offer(fetched(7, [7]))).toBe('taken');
  const read = buffer.take(1_000);
  expect(read.damage).toMatchObject([{ offset: 0n, nextOffset: 7n, reason: 'expired' }]);
  expect(sequences(read)).toEqual([7]);
});

test('a slow reader pauses fetching until it has read', () => {
  const buffer = new PartitionBuffer();
  for (let offset = 0; buffer.wantsMore(); offset++) {
    const large = { ...message(offset), value: Buffer.alloc(1_048_576) };
    buffer.offer({ requested: BigInt(offset), end: BigInt(offset + 1), messages: [large] });
  }
  buffer.take(2_000_000);
  expect(buffer.wantsMore()).toBe(true);
});

test('a wait ends with the first message', async () => {
  const buffer = new PartitionBuffer();
  const waiting = buffer.filled(60_000, never);
  buffer.offer(fetched(0, [0]));
  await waiting;
  expect(sequences(buffer.take(1_000))).toEqual([0]);
});

test('20,000 waits with one signal retain no memory', async () => {
  expect(await retainedByReads('buffer')).toBeLessThan(STRAY_OBJECTS);
});
