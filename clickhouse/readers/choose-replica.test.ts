import { expect, test } from 'vitest';
import { marksOf } from '../../core/event-log/replica-marks.ts';
import { type Choice, chooseReplica } from './choose-replica.ts';

const NEWEST = 10_000_000;
const names = ['a', 'b', 'c'];

function chosen(behind: Record<string, number | null>, given: Partial<Choice> = {}, watermark = NEWEST) {
  return chooseReplica({
    marks: marksOf({ watermark, replicas: behind }),
    atLeast: 0,
    names,
    tried: new Set(),
    avoided: new Set(),
    preferred: null,
    ...given,
  });
}

test('the first of those within a second of the freshest is read, or the one of the last read', () => {
  expect(chosen({ a: null, b: null })).toBe('a');
  expect(chosen({ a: 9_000_000, b: null })).toBe('a');
  expect(chosen({ a: 8_999_999, b: null })).toBe('b');
  expect(chosen({ a: null, b: 9_000_000 }, { preferred: 'b' })).toBe('b');
  expect(chosen({ a: null, b: 8_000_000 }, { preferred: 'b' })).toBe('a');
});

test('a reader gets no replica behind what it was promised', () => {
  const behind = { a: 9_500_000, b: 9_600_000 };
  expect(chosen(behind, { atLeast: 9_600_000 })).toBe('b');
  expect(chosen(behind, { atLeast: 9_600_001 })).toBe(null);
  // Ahead of all watermarks, only what lanes have passed was promised.
  expect(chosen({ ...behind, c: null }, { atLeast: NEWEST + 5 })).toBe('c');
  expect(chosen(behind, { atLeast: NEWEST + 5 })).toBe(null);
});

test('a replica that failed lately is read only when no other one has what is needed', () => {
  const avoided = new Set(['a']);
  expect(chosen({ a: null, b: 2 }, { avoided })).toBe('b');
  expect(chosen({ a: null, b: 2 }, { avoided, atLeast: 3 })).toBe('a');
  expect(chosen({ a: null, b: 2 }, { avoided, atLeast: 3, tried: avoided })).toBe(null);
});

test('a replica that may not be read, or is unknown here, is not read', () => {
  expect(chosen({ unknown: null })).toBe(null);
  expect(chosen({ unknown: null, c: 1 })).toBe('c');
});

test('without a stream there is no click, and each replica has all of them', () => {
  const marks = marksOf({ watermark: null, replicas: { b: null } });
  const rest = { names, tried: new Set<string>(), avoided: new Set<string>(), preferred: null };
  expect(chooseReplica({ marks, atLeast: NEWEST, ...rest })).toBe('b');
});
