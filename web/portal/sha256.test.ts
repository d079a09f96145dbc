import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashHead } from './sha256.ts';

test('equals SHA-256 of Node.js, for texts of every length up to its limit', () => {
  for (let length = 0; length <= 55; length += 1) {
    const text = Array.from({ length }, (_, n) => String.fromCharCode(33 + ((n * 7 + length) % 90))).join('');
    expect(hashHead(text), text).toBe(createHash('sha256').update(text).digest().readUInt32BE(0));
  }
  expect(() => hashHead('x'.repeat(56))).toThrow('56 characters');
});
