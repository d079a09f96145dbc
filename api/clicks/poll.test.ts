import { afterAll, beforeAll, expect, test } from 'vitest';
import { clickId } from '../../core/ids.ts';
import {
  advanceStreams,
  type RegisteredStream,
  registerStream,
  retireStream,
} from '../../sql/event-log/streams.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { storeClicks } from '../../test/support/stored-events.ts';

type Page = { clicks: { id: string; ts: string }[]; next_cursor: string | null; watermark: string };

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

async function page(query: string): Promise<Page> {
  const answer = await shop.get<Page>(`/clicks?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

/** Deterministic noise: 0 to 1. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A stream whose clicks reach the store late: they are written in batches, some time after they happened, and only
 * then `visible_before` moves, as a worker does it.
 */
function lateStream(stream: RegisteredStream, random: () => number) {
  const waiting: bigint[] = [];
  let sequence = 0n;
  return {
    click(micros: number): void {
      waiting.push(BigInt(micros) * 1_000n + BigInt(stream.ordinal));
    },
    async deliver(nowMicros: number, all: boolean): Promise<bigint[]> {
      const count = all ? waiting.length : Math.floor(random() * (waiting.length + 1));
      const batch = waiting.splice(0, count);
      await storeClicks(
        api.stores,
        batch.map((tsNanos) => ({ workspaceId: shop.workspace.id, tsNanos })),
      );
      sequence += BigInt(count);
      const next = waiting[0];
      const visibleBefore = next === undefined ? nowMicros : Number(next / 1_000n);
      await advanceStreams(api.stores.pool, [{ ...stream, highWater: sequence, visibleBefore }]);
      return batch;
    },
  };
}

test('a poller that passes the watermark back and drops known ids misses nothing, however late', async () => {
  expect((await page('')).watermark).toBe('1970-01-01T00:00:00.000000Z');
  const random = noise(7);
  const streams = [];
  for (const name of ['ingest-0', 'ingest-1', 'ingest-2']) {
    streams.push(lateStream(await registerStream(api.stores.pool, name), random));
  }
  const made: bigint[] = [];
  const known = new Set<string>();
  let watermark: string | null = null;

  async function poll(): Promise<void> {
    let cursor: string | null = null;
    let first: string | null = null;
    do {
      const since: string = watermark === null ? '' : `&since=${watermark}`;
      const got: Page = await page(`limit=20${since}${cursor === null ? '' : `&before=${cursor}`}`);
      first ??= got.watermark; // a poll of several pages continues from its first page's
      for (const click of got.clicks) known.add(click.id);
      cursor = got.next_cursor;
    } while (cursor !== null);
    watermark = first;
  }

  let micros = 1_795_168_800_000_000;
  for (let round = 0; round < 60; round++) {
    for (const stream of streams) {
      for (let n = Math.floor(random() * 8); n > 0; n--) {
        micros += Math.floor(random() * 5_000) + 1;
        stream.click(micros);
      }
    }
    // The second stream stalls for a third of the time: its clicks come long after newer ones of the others.
    for (const [index, stream] of streams.entries()) {
      if (index === 1 && round % 30 < 10) continue;
      made.push(...(await stream.deliver(micros, random() < 0.2)));
    }
    if (random() < 0.6) await poll();
  }
  for (const stream of streams) made.push(...(await stream.deliver(micros, true)));
  await poll();
  expect(made.length).toBeGreaterThan(300);
  expect([...known].sort()).toEqual(made.map(clickId).sort());
});

test('the watermark is the least of the streams that are not retired', async () => {
  const pool = api.stores.pool;
  const slow = await registerStream(pool, 'ingest-8');
  const fast = await registerStream(pool, 'ingest-9');
  const at = 1_795_999_999_000_000;
  await pool.query('UPDATE ingest_streams SET visible_before = $1', [at + 5]);
  await pool.query('UPDATE ingest_streams SET visible_before = $1 WHERE stream_id = $2', [at, slow.streamId]);
  // One that was read a moment ago may still be answered.
  const watermark = () => expect.poll(async () => (await page('')).watermark);
  await watermark().toBe('2026-11-30T00:53:19.000000Z');
  await retireStream(pool, slow.streamId);
  await watermark().toBe('2026-11-30T00:53:19.000005Z');
  expect(fast.ordinal).not.toBe(slow.ordinal);
});
