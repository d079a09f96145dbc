import { randomBytes } from 'node:crypto';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import { expect, test } from 'vitest';
import { adaptKafkajs } from './client.ts';
import { RecordTooLarge, zstandard } from './compression.ts';

adaptKafkajs(); // the encoders below take their memory as those of a client do

function written(bytes: Buffer): Encoder {
  return new Encoder().writeEncoderArray([new Encoder().writeBuffer(bytes)]);
}

test('bytes of any size survive compression, one after the other in the same memory', async () => {
  for (const size of [0, 1, 511, 700_000, 782_000, 600_000, 2_800_000, 20, 900_000]) {
    const bytes = Buffer.concat([randomBytes(Math.ceil(size / 4)), Buffer.alloc(Math.floor((size * 3) / 4))]);
    const compressed = await zstandard.compress(written(bytes));
    expect(bytes.equals(await zstandard.decompress(compressed)), String(size)).toBe(true);
  }
});

test('a record that exceeds the limit of the topic is rejected, and the next one is sent intact', async () => {
  await expect(zstandard.compress(written(randomBytes(1_000_000)))).rejects.toThrow(RecordTooLarge);
  const bytes = randomBytes(900_000);
  const compressed = await zstandard.compress(written(bytes));
  expect(bytes.equals(await zstandard.decompress(compressed))).toBe(true);
});

test('several records keep their order', async () => {
  const parts = [randomBytes(10), randomBytes(800_000), randomBytes(30)];
  const encoders = parts.map((bytes) => new Encoder().writeBuffer(bytes));
  const compressed = await zstandard.compress(new Encoder().writeEncoderArray(encoders));
  expect(Buffer.concat(parts).equals(await zstandard.decompress(compressed))).toBe(true);
});

test('the memory of a record that is still being read is not overwritten', async () => {
  const [first, second] = [randomBytes(700_000), randomBytes(700_000)];
  await zstandard.compress(written(randomBytes(900_000))); // leaves memory behind that the next one takes
  const one = written(first);
  const other = written(second);
  expect([one.buffer.equals(first), other.buffer.equals(second)]).toEqual([true, true]);
});
