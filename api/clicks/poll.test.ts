import { expect } from 'vitest';
import { clickId } from '../../core/ids.ts';
import {
  advanceStreams,
  type RegisteredStream,
  registerStream,
  retireStream,
} from '../../sql/event-log/streams.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { storeClicks } from '../../test/support/stored-events.ts';

type Click = { id: string; ts: string };
type Page = { clicks: Click[]; next_cursor: string | null; watermark: string };

async function page(shop: TestWorkspace, query: string): Promise<Page> {
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
function lateStream(api: TestApi, shop: TestWorkspace, stream: RegisteredStream, random: () => number) {
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

/** The streams of the last `lateClicks`. */
const registered: RegisteredStream[] = [];

/**
 * A minute of clicks of three streams, of which the second stalls for a third of the time.
 *
 * @returns every click's id
 */
async function lateClicks(
  api: TestApi,
  shop: TestWorkspace,
  seed: number,
  step: () => Promise<void>,
): Promise<string[]> {
  const random = noise(seed);
  for (const { streamId } of registered.splice(0)) await retireStream(api.stores.pool, streamId);
  for (const name of ['ingest-0', 'ingest-1', 'ingest-2']) {
    registered.push(await registerStream(api.stores.pool, `${name}-${seed}`));
  }
  const streams = registered.map((stream) => lateStream(api, shop, stream, random));
  const made: bigint[] = [];
  let micros = 1_795_168_800_000_000 + seed * 60_000_000;
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
    if (random() < 0.6) await step();
  }
  // The watermark passes the last click.
  for (const stream of streams) made.push(...(await stream.deliver(micros + 1, true)));
  await step();
  expect(made.length).toBeGreaterThan(300);
  return made.map(clickId).sort();
}

test('a poller that passes the watermark back and drops known ids misses nothing, however late', async ({
  api,
  shop,
}) => {
  expect((await page(shop, '')).watermark).toBe('1970-01-01T00:00:00.000000Z');
  const known = new Set<string>();
  let watermark: string | null = null;

  async function poll(): Promise<void> {
    let cursor: string | null = null;
    let first: string | null = null;
    do {
      const since: string = watermark === null ? '' : `&since=${watermark}`;
      const got: Page = await page(shop, `limit=20${since}${cursor === null ? '' : `&before=${cursor}`}`);
      first ??= got.watermark; // a poll of several pages continues from its first page's
      for (const click of got.clicks) known.add(click.id);
      cursor = got.next_cursor;
    } while (cursor !== null);
    watermark = first;
  }

  expect(await lateClicks(api, shop, 7, poll)).toEqual([...known].sort());
});

test('a load of settled clicks, oldest first, that continues from its newest `ts` misses nothing', async ({
  api,
}) => {
  const shop = await api.addWorkspace();
  const loaded = new Map<string, Click>();
  let newest = '2026-11-20T00:00:00Z';
  let loads = 0;
  let doubles = 0;

  async function load(): Promise<void> {
    loads += 1;
    const start = newest;
    let cursor: string | null = null;
    // Each third load breaks off after its first page.
    for (let pages = 0; pages === 0 || (cursor !== null && loads % 3 !== 0); pages++) {
      const after: string = cursor === null ? '' : `&since_after=${cursor}`;
      const got: Page = await page(shop, `order=asc&settled=true&limit=20&since=${start}${after}`);
      for (const click of got.clicks) {
        expect([click.ts >= newest, click.ts < got.watermark], click.ts).toEqual([true, true]);
        // Only the clicks of the last microsecond come again.
        if (loaded.has(click.id)) {
          doubles += 1;
          expect(click.ts).toBe(newest);
        }
        newest = click.ts;
        loaded.set(click.id, click);
      }
      cursor = got.next_cursor;
    }
  }

  const made = await lateClicks(api, shop, 8, load);
  // The API may still return a watermark that it read a moment ago.
  await expect.poll(() => load().then(() => loaded.size)).toBe(made.length);
  expect([...loaded.keys()].sort()).toEqual(made);
  expect(doubles).toBeGreaterThan(0);
});

test('oldest first, 2,000 clicks of one millisecond come once each', async ({ api }) => {
  const shop = await api.addWorkspace();
  const milli = 1_794_000_000_123_000_000n;
  const stored = await storeClicks(
    api.stores,
    Array.from({ length: 2_000 }, (_, n) => ({
      workspaceId: shop.workspace.id,
      tsNanos: milli + BigInt(Math.floor(n / 2)) * 1_000n + BigInt(n % 2),
    })),
  );
  const expected = stored.map(({ tsNanos }) => tsNanos).sort((a, b) => (a < b ? -1 : 1));
  for (const begin of ['since=2026-11-01', 'since=2000-01-01&before=2027-01-01', 'since_after=0000-01-01']) {
    const walked: string[] = [];
    let next = begin;
    for (;;) {
      const got = await page(shop, `order=asc&limit=499&${next}`);
      walked.push(...got.clicks.map(({ id }) => id));
      if (got.next_cursor === null) break;
      next = `since_after=${got.next_cursor}`;
    }
    expect(walked).toEqual(expected.map(clickId));
  }
});

test.for([
  ['order=asc', 'since', 'is required with order=asc'],
  ['order=oldest', 'order', 'must be one of asc, desc'],
  ['settled=yes', 'settled', 'must be one of true, false'],
  ['order=asc&since_after=yesterday', 'since_after', ''],
])('a refusal of %s names the parameter', async ([query, path, message], { shop }) => {
  const { status, body } = await shop.get(`/clicks?${query}`);
  const [detail] = body.error?.details ?? [];
  expect([status, detail?.path]).toEqual([400, path]);
  expect(detail?.message).toContain(message);
});

test('the watermark is the least of the streams that are not retired', async ({ api, shop }) => {
  const pool = api.stores.pool;
  const slow = await registerStream(pool, 'ingest-8');
  const fast = await registerStream(pool, 'ingest-9');
  const at = 1_795_999_999_000_000;
  await pool.query('UPDATE ingest_streams SET visible_before = $1', [at + 5]);
  await pool.query('UPDATE ingest_streams SET visible_before = $1 WHERE stream_id = $2', [at, slow.streamId]);
  // The API may still return a watermark that it read a moment ago.
  const watermark = () => expect.poll(async () => (await page(shop, '')).watermark);
  await watermark().toBe('2026-11-30T00:53:19.000000Z');
  await retireStream(pool, slow.streamId);
  await watermark().toBe('2026-11-30T00:53:19.000005Z');
  expect(fast.ordinal).not.toBe(slow.ordinal);
});
