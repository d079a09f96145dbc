import { expect, vi } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { storesTest as it } from '../../test/support/fixtures.ts';
import { heldTransaction } from '../../test/support/held-transaction.ts';
import { LIMIT_MS } from '../../test/support/until.ts';
import type { Pool } from '../database/pool.ts';
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

it('each registration gets its own identity, the lowest free ordinal first', async ({ stores }) => {
  const { pool } = stores;
  expect(await watermark(pool)).toBeNull();
  const streams = await Promise.all([1, 2, 3, 4].map(() => registerStream(pool, 'ingest-0')));
  expect(streams.map((stream) => stream.ordinal).sort()).toEqual([0, 1, 2, 3]);
  expect(new Set(streams.map((stream) => stream.streamId)).size).toBe(4);
});

it('busy and idle streams have places of their own, the lowest that no active stream has', async ({
  stores,
}) => {
  const { pool } = stores;
  const places: number[] = [];
  const idle: string[] = [];
  for (const name of ['api-0', 'api-1', 'api-2']) {
    const { place, streamId } = await registerStream(pool, name, uuidv7(), null, 'idle');
    places.push(place);
    idle.push(streamId);
  }
  expect(places).toEqual([-1, -2, -3]);
  const [, second = ''] = idle;
  await retireStream(pool, second);
  const again = await registerStream(pool, 'api-3', second, null, 'idle');
  expect(again.place).toBe(-2);
  expect((await registerStream(pool, 'api-4', uuidv7(), null, 'idle')).place).toBe(-2);
  const { rows } = await pool.query<{ place: number }>('SELECT place FROM ingest_streams WHERE place >= 0');
  expect(rows.map(({ place }) => place).sort()).toEqual([0, 1, 2, 3]);
  await pool.query('DELETE FROM ingest_streams WHERE place < 0');
});

it('the watermark is the least visible_before of the streams that are not retired', async ({ stores }) => {
  const { pool } = stores;
  const [a, b, c, d] = (await readStreams(pool)).sort((left, right) => left.ordinal - right.ordinal);
  if (!a || !b || !c || !d) throw new Error('four streams expected');
  await advanceStreams(pool, [
    { ...a, visibleBefore: 500 },
    { ...b, visibleBefore: 400 },
    { ...c, visibleBefore: 300 },
  ]);
  expect(await watermark(pool)).toBe(0); // d has no event yet
  expect(await retireStream(pool, d.streamId)).toBe(true);
  expect(await watermark(pool)).toBe(300);
  expect(await retireStream(pool, c.streamId)).toBe(true);
  expect(await retireStream(pool, c.streamId)).toBe(false);
  expect(await watermark(pool)).toBe(400);
});

it('a new stream starts at the newest watermark that may have been returned', async ({ stores }) => {
  const { pool } = stores;
  const stream = await registerStream(pool, 'ingest-1');
  expect(stream.notBefore).toBe(400);
  expect(await watermark(pool)).toBe(400);
});

it('repeated registrations of one id return the same stream', async ({ stores }) => {
  const { pool } = stores;
  const id = uuidv7();
  const first = await registerStream(pool, 'ingest-repeated', id);
  expect(first.streamId).toBe(id);
  expect(await registerStream(pool, 'ingest-repeated', id)).toEqual(first);
  const nothing = { stored: -1n, readUpTo: 0n, visibleBefore: first.notBefore };
  const recorded = (streamId: string) => streamRecord(pool, streamId, 'ingest-repeated');
  expect(await recorded(id)).toEqual({ ...nothing, state: 'active' });
  expect(await recorded(uuidv7())).toEqual({ ...nothing, visibleBefore: 0, state: 'unregistered' });
  await retireStream(pool, id);
  expect(await recorded(id)).toEqual({ ...nothing, state: 'retired' });
});

it('a stream that a restored backup does not know keeps its ordinal, unless another stream has it now', async ({
  stores,
}) => {
  const { pool } = stores;
  const had = (await registerStream(pool, 'ingest-beside-it')).ordinal + 20;
  const again = await registerStream(pool, 'ingest-forgotten', uuidv7(), had);
  expect(again.ordinal).toBe(had);
  const late = await registerStream(pool, 'ingest-forgotten-too', uuidv7(), had);
  expect(late.ordinal).toBeLessThan(had);
});

it('a stream never moves back', async ({ stores }) => {
  const { pool } = stores;
  const [stream] = await readStreams(pool);
  if (!stream) throw new Error('a stream expected');
  await advanceStreams(pool, [{ ...stream, highWater: 9n, visibleBefore: 900 }]);
  await advanceStreams(pool, [{ ...stream, highWater: 7n, visibleBefore: 700 }]);
  const after = (await readStreams(pool)).find(({ streamId }) => streamId === stream.streamId);
  expect(after).toMatchObject({ highWater: 9n, visibleBefore: 900 });
});

it('a lane and its streams advance together, or neither does', async ({ stores }) => {
  const { pool } = stores;
  const { streamId } = await registerStream(pool, 'ingest-2');
  const taken = await takeLane(pool, { consumer: 'c', partition: 'ingest-2', holder: 'a', leaseMs: -1 });
  if (!taken) throw new Error('a lane expected');
  const progress = async () => {
    const { rows } = await pool.query<{ next_offset: string; high_water: string; visible_before: number }>(
      `SELECT next_offset, high_water, visible_before FROM log_lanes, ingest_streams WHERE stream_id = $1`,
      [streamId],
    );
    return rows.map((row) => [row.next_offset, row.high_water, row.visible_before].map(Number));
  };
  const moved = { streamId, ordinal: 0, highWater: 3n, visibleBefore: 5_000 };
  expect(await advanceLaneAndStreams(pool, taken, { from: 0n, to: 70n }, [moved], [])).toBe(true);
  expect(await progress()).toEqual([[70, 3, 5_000]]);
  const further = { ...moved, highWater: 9n, visibleBefore: 9_000 };
  const range = { from: 70n, to: 90n };
  // The statement names another offset than the lane's, or a former holder.
  expect(await advanceLaneAndStreams(pool, taken, { from: 0n, to: 90n }, [further], [])).toBe(false);
  const successor = await takeLane(pool, { consumer: 'c', partition: 'ingest-2', holder: 'b', leaseMs: 9 });
  expect(await advanceLaneAndStreams(pool, taken, range, [further], [])).toBe(false);
  expect(await progress()).toEqual([[70, 3, 5_000]]);
  expect(successor && (await advanceLaneAndStreams(pool, successor, range, [], []))).toBe(true);
  expect(await progress()).toEqual([[90, 3, 5_000]]);
});

it('the record of a stream tells how far readers are in its journals, including what they are about to store', async ({
  stores,
}) => {
  const { pool } = stores;
  const { streamId } = await registerStream(pool, 'ingest-read');
  const read = async () => await streamRecord(pool, streamId, 'ingest-read');
  const take = async (consumer: string) => {
    const lane = await takeLane(pool, { consumer, partition: 'ingest-read', holder: 'a', leaseMs: 60_000 });
    if (!lane) throw new Error('a lane expected');
    return lane;
  };
  const [ahead, behind] = [await take('ahead'), await take('behind')];
  await advanceLaneAndStreams(
    pool,
    ahead,
    { from: 0n, to: 70n },
    [{ streamId, ordinal: 0, highWater: 3n, visibleBefore: 5_000 }],
    [],
  );
  expect(await read()).toEqual({ state: 'active', stored: 3n, readUpTo: 70n, visibleBefore: 5_000 });
  await commitIntent(pool, behind, { from: 0n, to: 80n, token: 't' });
  expect(await read()).toMatchObject({ readUpTo: 80n });
});

/** The pool, whose transactions commit only after `release()`. */
function withHeldCommits(pool: Pool) {
  const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name) as unknown;
      return async () => {
        const client = await target.connect();
        const query = async (...args: Parameters<typeof client.query>) => {
          if ((args[0] as unknown) === 'COMMIT') {
            reached.resolve();
            await release.promise;
          }
          return client.query(...args);
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

const PATIENT = { timeout: LIMIT_MS, interval: 5 };

/** Whether a transaction waits for a lock on the table of streams. */
async function waitsForTable(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_locks WHERE NOT granted AND relation = 'ingest_streams'::regclass
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return (rowCount ?? 0) > 0;
}

async function activeStreams(pool: Pool) {
  const all = await readStreams(pool);
  const { rows } = await pool.query<{ stream_id: string }>(
    `SELECT stream_id FROM ingest_streams WHERE state = 'active'`,
  );
  return all.filter(({ streamId }) => rows.some((row) => row.stream_id === streamId));
}

it('the watermark never decreases, however late a registration commits', async ({ stores }) => {
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
  let moved = false;
  void moving.then(() => {
    moved = true;
  });
  // The advance must wait for the registration; if it does not, the assertions below fail.
  await vi.waitFor(async () => expect(moved || (await waitsForTable(pool))).toBe(true), PATIENT);
  const returned = (await watermark(pool)) ?? 0;
  held.release();
  const { notBefore } = await registering;
  await moving;
  expect(notBefore).toBeGreaterThanOrEqual(returned);
  expect(await watermark(pool)).toBeGreaterThanOrEqual(returned);
});

it('streams advance while a registration waits for a long transaction', async ({ stores }) => {
  const { pool } = stores;
  const [slow, other] = await activeStreams(pool);
  if (!slow || !other) throw new Error('two streams expected');
  let registering: ReturnType<typeof registerStream> | undefined;
  await heldTransaction(pool, async (transaction) => {
    await advanceStreams(transaction, [{ ...slow, visibleBefore: 4_000_000 }]);
    registering = registerStream(pool, 'ingest-patient');
    // An advance that waited for this transaction would never end.
    for (let step = 1; step <= 3; step++) {
      await vi.waitFor(async () => expect(await waitsForTable(pool)).toBe(true), PATIENT);
      await advanceStreams(pool, [{ ...other, visibleBefore: 4_000_000 + step }]);
    }
  });
  expect((await registering)?.notBefore).toBe(await watermark(pool));
});

it('a stream whose clock is ahead moves no other stream ahead, unless the watermark may have been there', async ({
  stores,
}) => {
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
  expect((await registerStream(pool, 'ingest-again')).notBefore).toBe(before + hour);
});
