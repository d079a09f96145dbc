import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { inTransaction, type Pool } from '../database/pool.ts';
import { commitIntent, takeLane } from './lanes.ts';
import {
  advanceLaneAndStreams,
  advanceStreams,
  readStreams,
  registerStream,
  retireStream,
  streamRecord,
  watermark,
} from './streams.ts';

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
  expect(stream.notBefore).toBe(400);
  expect(await watermark(pool)).toBe(400);
});

it('registers a stream once, however often it is asked to, and knows it again', async () => {
  const { pool } = stores;
  const id = uuidv7();
  const first = await registerStream(pool, 'ingest-asked-twice', id);
  expect(first.streamId).toBe(id);
  expect(await registerStream(pool, 'ingest-asked-twice', id)).toEqual(first);
  const nothing = { stored: -1n, readUpTo: 0n };
  const recorded = (streamId: string) => streamRecord(pool, streamId, 'ingest-asked-twice');
  expect(await recorded(id)).toEqual({ ...nothing, state: 'active' });
  expect(await recorded(uuidv7())).toEqual({ ...nothing, state: 'unregistered' });
  await retireStream(pool, id);
  expect(await recorded(id)).toEqual({ ...nothing, state: 'retired' });
});

it('registers a stream that a restored backup does not know under the ordinal it had, unless another has that now', async () => {
  const { pool } = stores;
  const had = (await registerStream(pool, 'ingest-beside-it')).ordinal + 20;
  const again = await registerStream(pool, 'ingest-forgotten', uuidv7(), had);
  expect(again.ordinal).toBe(had);
  const late = await registerStream(pool, 'ingest-forgotten-too', uuidv7(), had);
  expect(late.ordinal).toBeLessThan(had);
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

it('moves a lane and its streams on together, or neither', async () => {
  const { pool } = stores;
  const { streamId } = await registerStream(pool, 'ingest-2');
  const taken = await takeLane(pool, { consumer: 'c', partition: 'ingest-2', holder: 'a', leaseMs: -1 });
  if (!taken) throw new Error('a lane expected');
  const standing = async () => {
    const { rows } = await pool.query<{ next_offset: string; high_water: string; visible_before: number }>(
      `SELECT next_offset, high_water, visible_before FROM log_lanes, ingest_streams WHERE stream_id = $1`,
      [streamId],
    );
    return rows.map((row) => [row.next_offset, row.high_water, row.visible_before].map(Number));
  };
  const moved = { streamId, ordinal: 0, highWater: 3n, visibleBefore: 5_000 };
  expect(await advanceLaneAndStreams(pool, taken, { from: 0n, to: 70n }, [moved])).toBe(true);
  expect(await standing()).toEqual([[70, 3, 5_000]]);
  const further = { ...moved, highWater: 9n, visibleBefore: 9_000 };
  const range = { from: 70n, to: 90n };
  // Not where the lane stands, and not by who holds it.
  expect(await advanceLaneAndStreams(pool, taken, { from: 0n, to: 90n }, [further])).toBe(false);
  const successor = await takeLane(pool, { consumer: 'c', partition: 'ingest-2', holder: 'b', leaseMs: 9 });
  expect(await advanceLaneAndStreams(pool, taken, range, [further])).toBe(false);
  expect(await standing()).toEqual([[70, 3, 5_000]]);
  expect(successor && (await advanceLaneAndStreams(pool, successor, range, []))).toBe(true);
  expect(await standing()).toEqual([[90, 3, 5_000]]);
});

it('knows how far readers have come in the journals of a name, what they are about to store included', async () => {
  const { pool } = stores;
  const { streamId } = await registerStream(pool, 'ingest-read');
  const read = async () => await streamRecord(pool, streamId, 'ingest-read');
  const take = async (consumer: string) => {
    const lane = await takeLane(pool, { consumer, partition: 'ingest-read', holder: 'a', leaseMs: 60_000 });
    if (!lane) throw new Error('a lane expected');
    return lane;
  };
  const [ahead, behind] = [await take('ahead'), await take('behind')];
  await advanceLaneAndStreams(pool, ahead, { from: 0n, to: 70n }, [
    { streamId, ordinal: 0, highWater: 3n, visibleBefore: 5_000 },
  ]);
  expect(await read()).toEqual({ state: 'active', stored: 3n, readUpTo: 70n });
  await commitIntent(pool, behind, { from: 0n, to: 80n, token: 't' });
  expect(await read()).toMatchObject({ readUpTo: 80n });
});

/** The pool, whose transactions commit only when they are let to. */
function withHeldCommits(pool: Pool) {
  const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name) as unknown;
      return async () => {
        const client = await target.connect();
        const query = async (...asked: Parameters<typeof client.query>) => {
          if ((asked[0] as unknown) === 'COMMIT') {
            reached.resolve();
            await release.promise;
          }
          return client.query(...asked);
        };
        return new Proxy(client, {
          get: (of, key) => {
            const value: unknown = key === 'query' ? query : Reflect.get(of, key);
            return typeof value === 'function' ? value.bind(of) : value;
          },
        });
      };
    },
  });
  return { pool: held, reached: reached.promise, release: release.resolve };
}

async function activeStreams(pool: Pool) {
  const all = await readStreams(pool);
  const { rows } = await pool.query<{ stream_id: string }>(
    `SELECT stream_id FROM ingest_streams WHERE state = 'active'`,
  );
  return all.filter(({ streamId }) => rows.some((row) => row.stream_id === streamId));
}

it('never lets the watermark go back, however late a registration commits', async () => {
  const { pool } = stores;
  const active = await activeStreams(pool);
  const moveTo = (visibleBefore: number) =>
    advanceStreams(
      pool,
      active.map((stream) => ({ ...stream, visibleBefore })),
    );
  await moveTo(1_000_000);
  const held = withHeldCommits(pool);
  const registering = registerStream(held.pool, 'ingest-late');
  await held.reached;
  const moving = moveTo(3_000_000);
  await Promise.race([moving, delay(300)]);
  const handedOut = (await watermark(pool)) ?? 0;
  held.release();
  const { notBefore } = await registering;
  await moving;
  expect(notBefore).toBeGreaterThanOrEqual(handedOut);
  expect(await watermark(pool)).toBeGreaterThanOrEqual(handedOut);
});

it('lets streams move on while a registration waits for a transaction that takes long', async () => {
  const { pool } = stores;
  const [slow, other] = await activeStreams(pool);
  if (!slow || !other) throw new Error('two streams expected');
  let registering: ReturnType<typeof registerStream> | undefined;
  await inTransaction(pool, async (transaction) => {
    await advanceStreams(transaction, [{ ...slow, visibleBefore: 4_000_000 }]);
    registering = registerStream(pool, 'ingest-patient');
    await delay(100);
    for (let step = 1; step <= 5; step++) {
      const began = performance.now();
      await advanceStreams(pool, [{ ...other, visibleBefore: 4_000_000 + step }]);
      expect(performance.now() - began).toBeLessThan(2_000);
      await delay(100);
    }
  });
  expect((await registering)?.notBefore).toBe(await watermark(pool));
});

it('dates no stream ahead because another’s clock was, unless the watermark may have been there', async () => {
  const { pool } = stores;
  const hour = 3_600_000_000;
  const before = (await watermark(pool)) ?? 0;
  const ahead = await registerStream(pool, 'ingest-ahead');
  await advanceStreams(pool, [{ ...ahead, highWater: 1n, visibleBefore: before + hour }]);
  expect((await registerStream(pool, 'ingest-beside')).notBefore).toBe(before);
  await retireStream(pool, ahead.streamId);
  expect((await registerStream(pool, 'ingest-after')).notBefore).toBe(before);
  for (const { streamId } of await activeStreams(pool)) await retireStream(pool, streamId);
  expect(await watermark(pool)).toBeNull();
  expect((await registerStream(pool, 'ingest-anew')).notBefore).toBe(before + hour);
});
