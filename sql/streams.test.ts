import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { advanceStreams, readStreams, registerStream, retireStream, watermark } from './streams.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

it('gives every registration an identity of its own, the lowest free ordinal first', async () => {
  const { pool } = stores;
  expect(await watermark(pool)).toBeNull();
  const streams = await Promise.all([1, 2, 3, 4].map(() => registerStream(pool, 'ingest-0')));
  expect(streams.map((stream) => stream.ordinal).sort()).toEqual([0, 1, 2, 3]);
  expect(new Set(streams.map((stream) => stream.streamId)).size).toBe(4);
});

it('has the least visible_before of the streams that are not retired as its watermark', async () => {
  const { pool } = stores;
  const [a, b, c, d] = (await readStreams(pool)).sort((left, right) => left.ordinal - right.ordinal);
  if (!a || !b || !c || !d) throw new Error('four streams expected');
  await advanceStreams(pool, [
    { ...a, visibleBefore: 500 },
    { ...b, visibleBefore: 400 },
    { ...c, visibleBefore: 300 },
  ]);
  expect(await watermark(pool)).toBe(0); // d has delivered nothing yet
  expect(await retireStream(pool, d.streamId)).toBe(true);
  expect(await watermark(pool)).toBe(300);
  expect(await retireStream(pool, c.streamId)).toBe(true);
  expect(await retireStream(pool, c.streamId)).toBe(false);
  expect(await watermark(pool)).toBe(400);
});

it('begins a new stream at the newest watermark that may have been handed out', async () => {
  const { pool } = stores;
  const stream = await registerStream(pool, 'ingest-1');
  expect(stream.notBefore).toBe(500);
  expect(await watermark(pool)).toBe(400);
});

it('never moves a stream back', async () => {
  const { pool } = stores;
  const [stream] = await readStreams(pool);
  if (!stream) throw new Error('a stream expected');
  await advanceStreams(pool, [{ ...stream, highWater: 9n, visibleBefore: 900 }]);
  await advanceStreams(pool, [{ ...stream, highWater: 7n, visibleBefore: 700 }]);
  const after = (await readStreams(pool)).find(({ streamId }) => streamId === stream.streamId);
  expect(after).toMatchObject({ highWater: 9n, visibleBefore: 900 });
});
