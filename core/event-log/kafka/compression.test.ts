import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import { expect, test } from 'vitest';
import { COMPRESSION, RecordTooLarge } from './compression.ts';

const codec = kafkajs.CompressionCodecs[COMPRESSION]?.();

function written(bytes: Buffer): Encoder {
  return new Encoder().writeEncoderArray([new Encoder().writeBuffer(bytes)]);
}

test('what was written comes back, however large, one after the other in the same memory', async () => {
  for (const size of [0, 1, 511, 700_000, 782_000, 600_000, 2_800_000, 20, 900_000]) {
    const bytes = Buffer.concat([randomBytes(Math.ceil(size / 4)), Buffer.alloc(Math.floor((size * 3) / 4))]);
    const compressed = (await codec?.compress(written(bytes))) ?? Buffer.alloc(0);
    expect(bytes.equals((await codec?.decompress(compressed)) ?? Buffer.alloc(0)), String(size)).toBe(true);
  }
});

test('what does not fit into a topic is refused, and the next one is none the worse', async () => {
  await expect(codec?.compress(written(randomBytes(1_000_000)))).rejects.toThrow(RecordTooLarge);
  const bytes = randomBytes(900_000);
  const compressed = (await codec?.compress(written(bytes))) ?? Buffer.alloc(0);
  expect(bytes.equals((await codec?.decompress(compressed)) ?? Buffer.alloc(0))).toBe(true);
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
