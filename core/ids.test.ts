import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesToUuid, clickId, isUuid, uuidToBytes, uuidv7 } from './ids.ts';

test('ids of one process are UUIDv7 in ascending order, also within a millisecond', () => {
  const ids = Array.from({ length: 20_000 }, uuidv7);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a UUID survives the way to bytes and back', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      expect(isUuid(uuid)).toBe(true);
      expect(bytesToUuid(uuidToBytes(uuid))).toBe(uuid);
    }),
  );
});

test('the id of a click is a UUIDv7 that orders as its time does and differs for every nanosecond', () => {
  const nanos = fc.bigInt({ min: 1_600_000_000_000_000_000n, max: 4_000_000_000_000_000_000n });
  fc.assert(
    fc.property(nanos, fc.bigInt({ min: 1n, max: 10_000_000n }), (ts, step) => {
      const first = clickId(ts);
      const second = clickId(ts + step);
      expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(first < second).toBe(true);
      expect(clickId(ts)).toBe(first);
    }),
  );
});
