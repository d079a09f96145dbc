import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import { expect, test } from 'vitest';
import { COMPRESSION } from './compression.ts';

const codec = kafkajs.CompressionCodecs[COMPRESSION]?.();

function written(bytes: Buffer): Encoder {
  return new Encoder().writeEncoderArray([new Encoder().writeBuffer(bytes)]);
}

test('what was written comes back, however large, one after the other in the same memory', async () => {
  for (const size of [0, 1, 511, 700_000, 782_000, 600_000, 1_100_000, 20, 900_000]) {
    const bytes = randomBytes(size);
    const compressed = (await codec?.compress(written(bytes))) ?? Buffer.alloc(0);
    expect(bytes.equals((await codec?.decompress(compressed)) ?? Buffer.alloc(0)), String(size)).toBe(true);
  }
});

test('several records are compressed in their order', async () => {
  const parts = [randomBytes(10), randomBytes(800_000), randomBytes(30)];
  const encoders = parts.map((bytes) => new Encoder().writeBuffer(bytes));
  const compressed = (await codec?.compress(new Encoder().writeEncoderArray(encoders))) ?? Buffer.alloc(0);
  expect(Buffer.concat(parts).equals((await codec?.decompress(compressed)) ?? Buffer.alloc(0))).toBe(true);
});

test('memory of a record that is still being read is not written over', async () => {
  const [first, second] = [randomBytes(700_000), randomBytes(700_000)];
  await codec?.compress(written(randomBytes(900_000))); // leaves memory behind that the next one takes
  const one = written(first);
  const other = written(second);
  expect([one.buffer.equals(first), other.buffer.equals(second)]).toEqual([true, true]);
});
