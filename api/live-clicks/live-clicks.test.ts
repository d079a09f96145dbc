import { afterEach, describe, expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { advanceStreams, type RegisteredStream, registerStream } from '../../sql/event-log/streams.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { type EventStream, openEventStream, originOf } from '../../test/support/event-stream.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { type GivenClick, storeClicks } from '../../test/support/stored-events.ts';

let streams: RegisteredStream[];
let open: EventStream[];

test.beforeAll(async ({ api }) => {
  streams = [
    await registerStream(api.stores.pool, 'ingest-0'),
    await registerStream(api.stores.pool, 'ingest-1'),
  ];
});
test.beforeEach(async ({ api }) => {
  open = [];
  await watermarkAt(api, Date.now() * 1_000 - 2_000_000);
});
afterEach(() => {
  for (const stream of open) stream.close();
});

async function connect(
  api: TestApi,
  shop: TestWorkspace,
  query = '',
  headers: Record<string, string> = {},
  from = shop,
): Promise<EventStream> {
  const stream = await openEventStream(`${await originOf(api.app)}/api/v1/clicks/live?${query}`, {
    authorization: `Bearer ${from.secretKey}`,
    ...headers,
  });
  open.push(stream);
  return stream;
}

/** Marks clicks before it (microseconds) as visible, as workers do. */
async function watermarkAt(api: TestApi, micros: number): Promise<void> {
  await advanceStreams(
    api.stores.pool,
    streams.map((stream) => ({ ...stream, highWater: 0n, visibleBefore: micros })),
  );
}

let micros = 0;

/** A time of a stream that is later than all before. */
function nextOf(stream: number): bigint {
  micros = Math.max(micros + 1, Date.now() * 1_000);
  return BigInt(micros) * 1_000n + BigInt(streams[stream]?.ordinal ?? 0);
}

/** Makes clicks visible, each with its visitor as its id. */
async function click(
  api: TestApi,
  shop: TestWorkspace,
  count = 1,
  given: Partial<GivenClick> = {},
): Promise<string[]> {
  const stored = await storeClicks(
    api.stores,
    Array.from({ length: count }, (_, n) => ({
      workspaceId: shop.workspace.id,
      tsNanos: nextOf(n % 2),
      ...given,
    })),
  );
  return stored.map(({ visitorId }) => visitorId);
}

const visitors = (...connections: EventStream[]): string[] =>
  connections.flatMap(({ events }) => events.map(({ data }) => JSON.parse(data).visitor_id as string));

describe('a connection', () => {
  test('gets new clicks, as GET /clicks shows them, and no earlier ones', async ({ api, shop }) => {
    await click(api, shop, 3);
    const live = await connect(api, shop);
    expect([live.status, live.headers['content-type'], live.headers['x-accel-buffering']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no',
    ]);
    const made = await click(api, shop, 2, { referer: 'https://a.example/?q=\n', country: 'FR' });
    await expect.poll(() => visitors(live)).toEqual(made);
    const { body } = await shop.get<{ clicks: unknown[] }>('/clicks?limit=2');
    expect(live.events.map(({ data }) => JSON.parse(data))).toEqual(body.clicks.toReversed());
    expect(live.events.map(({ event }) => event)).toEqual(['click', 'click']);
  });

  test('begins at a given instant, such as the watermark of GET /clicks', async ({ api, shop }) => {
    await click(api, shop, 2);
    const { body } = await shop.get<{ watermark: string; clicks: { visitor_id: string }[] }>(
      '/clicks?limit=500',
    );
    const live = await connect(api, shop, `since=${body.watermark}`);
    await expect
      .poll(() => visitors(live).toSorted())
      .toEqual(body.clicks.map((one) => one.visitor_id).toSorted());
  });

  test('gets the clicks of its filters', async ({ api, shop }) => {
    const linkId = uuidv7();
    const oneOf = [{ any: [{ dimension: 'country', operator: 'contains', values: ['fr'] }] }];
    const [byLink, byChannel, byCountry, byJson, withBots] = await Promise.all([
      connect(api, shop, `link_ids=${linkId},${uuidv7()}`),
      connect(api, shop, 'channel=youtube'),
      connect(api, shop, 'country=FR,AT&not_channel=slack'),
      connect(api, shop, `filters=${encodeURIComponent(JSON.stringify(oneOf))}`),
      connect(api, shop, 'bots=include'),
    ]);
    const ofLink = await click(api, shop, 1, { linkId });
    const ofChannel = await click(api, shop, 1, { channel: 'youtube' });
    const ofCountry = await click(api, shop, 1, { country: 'FR' });
    const ofBot = await click(api, shop, 1, { isBot: true });
    const last = await click(api, shop, 1, { linkId, channel: 'youtube', country: 'FR' });
    const all = [...ofLink, ...ofChannel, ...ofCountry, ...ofBot, ...last];
    await expect.poll(() => visitors(withBots)).toEqual(all);
    await expect.poll(() => visitors(byLink)).toEqual([...ofLink, ...last]);
    await expect.poll(() => visitors(byChannel)).toEqual([...ofChannel, ...last]);
    await expect.poll(() => visitors(byCountry)).toEqual([...ofCountry, ...last]);
    await expect.poll(() => visitors(byJson)).toEqual([...ofCountry, ...last]);
    // The filter also applies to the clicks that are caught up with.
    const again = await connect(api, shop, `link_ids=${linkId}&channel=youtube`, {
      'last-event-id': withBots.events[0]?.id ?? '',
    });
    await expect.poll(() => visitors(again)).toEqual(last);
  });

  test('gets no imported click, also when its time is now, and none when it catches up', async ({
    api,
    shop,
  }) => {
    await shop.post('/links', {
      destination_url: 'https://shop.example/',
      name: 'Moved',
      channel: 'reddit',
      slug: `moved-${shop.workspace.id}`,
    });
    const live = await connect(api, shop, 'bots=include');
    const before = new Date().toISOString();
    const imported = await api.app.inject({
      method: 'POST',
      url: '/api/v1/clicks/import',
      headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'text/csv' },
      payload: `ts,slug,country\n${before},moved-${shop.workspace.id},DE\n`,
    });
    expect(imported.json()).toMatchObject({ created: 1, clicks: 1 });
    const { body } = await shop.get<{ clicks: { imported: boolean }[] }>('/clicks');
    expect(body.clicks.map((one) => one.imported)).toEqual([true]);
    const made = await click(api, shop, 2);
    await expect.poll(() => visitors(live)).toEqual(made);
    const again = await connect(api, shop, `since=${before}&bots=include`);
    await expect.poll(() => visitors(again)).toEqual(made);
  });

  test('gets the clicks of an hour in a time zone', async ({ api, shop }) => {
    // At any time, the hour differs between these zones.
    const zones = ['UTC', 'Asia/Tokyo', 'America/Los_Angeles'];
    const hourIn = (timeZone: string) =>
      Number(new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format());
    const hour = hourIn('Asia/Tokyo');
    const live = await Promise.all(
      zones.map((zone) => connect(api, shop, `hour_of_day=${hour},${(hour + 1) % 24}&time_zone=${zone}`)),
    );
    const made = await click(api, shop, 2);
    await expect.poll(() => live.map((one) => visitors(one))).toEqual([[], made, []]);
  });

  test('gets nothing of another workspace, also when it filters by its links and begins in the past', async ({
    api,
    shop,
  }) => {
    const other = await api.addWorkspace();
    const linkId = uuidv7();
    const since = new Date(Date.now() - 60_000).toISOString();
    const spy = await connect(api, shop, `since=${since}&bots=include`, {}, other);
    const asking = await connect(api, shop, `since=${since}&link_ids=${linkId}`, {}, other);
    const own = await connect(api, shop);
    const made = await click(api, shop, 3, { linkId });
    await expect.poll(() => visitors(own)).toEqual(made);
    const theirs = await click(api, shop, 1, { workspaceId: other.workspace.id, linkId });
    await expect.poll(() => visitors(spy)).toEqual(theirs);
    await expect.poll(() => visitors(asking)).toEqual(theirs);
    expect(visitors(own)).toEqual(made);
  });

  test('ends after the requested seconds', async ({ api, shop }) => {
    const live = await connect(api, shop, 'seconds=1');
    await live.ended;
    expect(live.events).toEqual([]);
    expect(live.lastId()).toMatch(/^\d{4}-.*Z/);
  });
});

describe('every click comes exactly once', () => {
  test('over a connection that breaks repeatedly, while streams lag behind each other', async ({
    api,
    shop,
  }) => {
    const made: string[] = [];
    const connections: EventStream[] = [await connect(api, shop)];
    const late: GivenClick[] = [];
    for (let round = 0; round < 12; round++) {
      // The clicks of both streams have the same times, but the second stream's become visible rounds later.
      for (let n = 0; n < 15; n++) {
        late.push({ workspaceId: shop.workspace.id, tsNanos: nextOf(1) });
        if (n % 3 === 0) made.push(...(await click(api, shop, 1, { tsNanos: nextOf(0) })));
      }
      if (round % 3 === 2) {
        const arrived = await storeClicks(api.stores, late.splice(0, 30));
        made.push(...arrived.map(({ visitorId }) => visitorId));
        const next = late[0]?.tsNanos;
        if (next !== undefined) await watermarkAt(api, Number(next / 1_000n));
      }
      const last = connections.at(-1);
      if (!last) continue;
      if (round % 2 === 0) await expect.poll(() => last.events.length).toBeGreaterThan(0);
      last.close();
      connections.push(await connect(api, shop, '', { 'last-event-id': last.lastId() }));
    }
    const arrived = await storeClicks(api.stores, late);
    made.push(...arrived.map(({ visitorId }) => visitorId));
    await expect.poll(() => visitors(...connections).toSorted()).toEqual(made.toSorted());
    const ids = connections.flatMap(({ events }) => events.map(({ data }) => JSON.parse(data).id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('of a burst larger than a poll batch', async ({ api, shop }) => {
    const live = await connect(api, shop);
    const made = await click(api, shop, 5_000);
    await expect.poll(() => live.events.length).toBe(made.length);
    expect(visitors(live)).toEqual(made);
    const again = await connect(api, shop, '', { 'last-event-id': live.events[99]?.id ?? '' });
    await expect.poll(() => again.events.length).toBe(made.length - 100);
    expect(visitors(again)).toEqual(made.slice(100));
  });

  test('for a slow reader: it is cut off, and resumes', async ({ api, shop }) => {
    const slow = await connect(api, shop);
    slow.pause();
    const made = await click(api, shop, 20_000, { referer: `https://a.example/?${'long'.repeat(250)}` });
    const quick = await connect(api, shop, '', { 'last-event-id': slow.lastId() });
    await expect.poll(() => quick.events.length).toBe(made.length);
    slow.resume();
    await slow.ended;
    expect(slow.events.length).toBeLessThan(made.length);
    const next = await connect(api, shop, '', { 'last-event-id': slow.lastId() });
    await expect.poll(() => slow.events.length + next.events.length).toBe(made.length);
    expect(visitors(slow, next)).toEqual(made);
  }, 120_000);
});

describe('it is refused:', () => {
  test.for([
    ['since=yesterday', 'since'],
    ['since=2020-01-01', 'since'],
    ['since=2999-01-01', 'since'],
    ['since=', 'since'],
    [`since=${new Date(Date.now() - 86_400_000).toISOString()}~x`, 'since'],
    ['link_ids=x', 'link_ids'],
    ['channel=myspace', 'channel'],
    ['country=Germany', 'country'],
    ['bots=only', 'bots'],
    ['seconds=0', 'seconds'],
    ['seconds=601', 'seconds'],
  ])('%s', async ([query, path], { shop }) => {
    const answer = await shop.get(`/clicks/live?${query}`);
    expect([answer.status, answer.body.error?.details?.[0]?.path]).toEqual([400, path]);
  });

  test('a malformed Last-Event-ID', async ({ shop }) => {
    const answer = await shop.get('/clicks/live', { headers: { 'last-event-id': '7' } });
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'Last-Event-ID']);
  });

  test('without a key, with a publishable one, on a free plan', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await shop.get('/clicks/live', { key: null })).status).toBe(401);
    expect((await shop.get('/clicks/live', { key: shop.publishableKey })).status).toBe(403);
    expect((await free.get('/clicks/live')).status).toBe(402);
  });

  test('the twenty-first connection of a workspace, until another has closed', async ({ api, shop }) => {
    await Promise.all(Array.from({ length: 20 }, () => connect(api, shop)));
    const refused = await connect(api, shop);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '15']);
    const other = await api.addWorkspace();
    expect((await connect(api, shop, '', {}, other)).status).toBe(200);
    open[0]?.close();
    await expect.poll(async () => (await connect(api, shop)).status).toBe(200);
  });
});
