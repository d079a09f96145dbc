import { beforeEach, expect } from 'vitest';
import { formatInstant } from '../core/time/timestamps.ts';
import { insertCorrections } from '../sql/event-log/clock-corrections.ts';
import { advanceStreams, type RegisteredStream, registerStream } from '../sql/event-log/streams.ts';
import type { TestApi, TestWorkspace } from '../test/support/api.ts';
import { openEventStream, originOf } from '../test/support/event-stream.ts';
import { apiTest as test } from '../test/support/fixtures.ts';
import { storeClicks } from '../test/support/stored-events.ts';

/** Readers with a position from a time when the clock was ten years ahead, which was corrected since. */
const YEARS = 10 * 365 * 86_400_000_000;
const SECOND = 1_000_000;
let stream: RegisteredStream;
let now: number;

test.beforeAll(async ({ api }) => {
  stream = await registerStream(api.stores.pool, 'ingest-0');
});
beforeEach(async () => {
  now = Date.now() * 1_000;
});

async function clickAt(api: TestApi, shop: TestWorkspace, micros: number): Promise<string> {
  const tsNanos = BigInt(micros) * 1_000n + BigInt(stream.ordinal);
  const [click] = await storeClicks(api.stores, [{ workspaceId: shop.workspace.id, tsNanos }]);
  return click?.visitorId ?? '';
}

/** Moves the watermark, forward or back. */
function markAt(api: TestApi, micros: number, isSetBack = false): Promise<void> {
  return advanceStreams(api.stores.pool, [{ ...stream, highWater: 0n, visibleBefore: micros, isSetBack }]);
}

async function correct(api: TestApi): Promise<void> {
  const { streamId, ordinal } = stream;
  await insertCorrections(api.stores.pool, [
    {
      streamId,
      ordinal,
      first: 0n,
      before: BigInt(now),
      fromTs: now + YEARS - 60 * SECOND,
      toTs: now + YEARS,
      shift: YEARS,
    },
  ]);
  await markAt(api, now + SECOND, true);
}

const instant = (micros: number) => formatInstant(BigInt(micros) * 1_000n, 9);

test('a poll with a watermark from the future resumes where it was', async ({ api, shop }) => {
  await clickAt(api, shop, now - 10 * SECOND);
  const since = instant(now + YEARS - 5 * SECOND);
  const poll = async () =>
    (await shop.get<{ clicks: { visitor_id: string }[] }>(`/clicks?since=${since}`)).body.clicks;
  const later = await clickAt(api, shop, now - 2 * SECOND);
  expect(await poll(), 'the wrong clock is not known yet').toEqual([]);
  await correct(api);
  expect((await poll()).map(({ visitor_id }) => visitor_id)).toEqual([later]);
});

test('a live stream ends when the clock is set back, and resumes from its last id', async ({ api, shop }) => {
  await markAt(api, now + YEARS);
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const authorization = `Bearer ${shop.secretKey}`;
  const live = await openEventStream(url, { authorization });
  await expect.poll(() => live.lastId()).toMatch(/^203\d/);
  await correct(api);
  await live.ended;
  const again = await openEventStream(url, { authorization, 'last-event-id': live.lastId() });
  expect(again.status).toBe(200);
  const visitor = await clickAt(api, shop, now + SECOND);
  await expect
    .poll(() => again.events.map(({ data }) => (JSON.parse(data) as { visitor_id: string }).visitor_id))
    .toEqual([visitor]);
  again.close();
});
