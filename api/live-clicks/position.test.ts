import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInstant } from '../../core/time/timestamps.ts';
import { Position } from './position.ts';

const AT = parseInstant('2026-11-20T10:00:00Z') ?? 0n;

test('each click of a stream is accepted once, and none before an accepted one', () => {
  const position = new Position(AT);
  expect(position.take(AT - 1n)).toBe(false);
  expect(position.take(AT + 5_003n)).toBe(true);
  expect(position.take(AT + 5_003n)).toBe(false);
  expect(position.take(AT + 4_003n)).toBe(false);
  expect(position.take(AT + 4_004n)).toBe(true); // another stream is behind
  expect(position.take(AT + 6_003n)).toBe(true);
});

test('settled clicks are not sent again, and are left out of the text', () => {
  const position = new Position(AT);
  position.take(AT + 5_003n);
  position.take(AT + 9_004n);
  expect(String(position)).toBe('2026-11-20T10:00:00.000000000Z~5004~9005');
  position.settle(AT + 6_000n);
  expect(String(position)).toBe('2026-11-20T10:00:00.000006000Z~3005');
  expect(position.take(AT + 5_999n)).toBe(false);
  position.settle(AT);
  expect(position.settled).toBe(AT + 6_000n);
});

test('as text it is the same position, whatever was sent', () => {
  const time = fc.bigInt({ min: 0n, max: 10_000_000_000n });
  fc.assert(
    fc.property(fc.array(time), time, fc.array(time), (given, settled, later) => {
      const position = new Position(AT);
      for (const delta of given) position.take(AT + delta);
      position.settle(AT + settled);
      const read = Position.parse(String(position));
      expect(String(read)).toBe(String(position));
      for (const delta of later) expect(read?.take(AT + delta)).toBe(position.take(AT + delta));
    }),
  );
});

test('an instant is a position with nothing sent from it on', () => {
  expect(Position.parse('2026-11-20T12:00:00+02:00')?.take(AT)).toBe(true);
  expect(Position.parse('2026-11-20T12:00:00+02:00')?.take(AT - 1n)).toBe(false);
});

test.each([
  '',
  'now',
  '~5',
  '2026-11-20T10:00:00Z~',
  '2026-11-20T10:00:00Z~0',
  '2026-11-20T10:00:00Z~5~x',
  'x~5',
])('%j is not a position', (text) => expect(Position.parse(text)).toBeNull());
