import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { type GivenClick, storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { type ClickHouseClient, createClickHouse } from '../client.ts';
import { type ClickSpan, clicksBeforeOrders, type Origin, origins } from '../queries/clicks-before-orders.ts';
import { newestClickOf } from '../queries/newest-visitors.ts';
import { visitorJourney } from '../queries/visitor-journey.ts';
import { rollUp } from './roll-up.ts';

const START = parseInstant('2025-12-20') ?? 0n;
const DAYS = 30;
/** The watermark is in the middle of the last day. */
const CLOSED = '2026-01-18';
const CHANNELS = ['facebook', 'bio', 'tiktok', 'bio'];

let stores: TestStores;
const workspaces = [uuidv7(), uuidv7()] as const;
const links = [uuidv7(), uuidv7()] as const;
const visitors = Array.from({ length: 40 }, () => uuidv7());
const clicks: Required<GivenClick>[] = [];
const clients: ClickHouseClient[] = [];

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
  // Sometimes two in a second, the same visitors in both workspaces, and the first and last moment of days.
  const each = (NANOS_PER_DAY * BigInt(DAYS)) / 600n;
  await store(
    Array.from({ length: 600 }, (_, n) => ({
      tsNanos: START + BigInt(n - (n % 3 === 1 ? 1 : 0)) * each + BigInt(n),
      workspaceId: workspaces[n % 7 === 0 ? 1 : 0],
      visitorId: visitors[(n * 7 + Math.floor(n / 13)) % visitors.length] ?? '',
      linkId: links[n % 2],
      channel: CHANNELS[n % CHANNELS.length] ?? '',
      isBot: n % 11 === 0,
    })),
  );
  const midnight = START + 5n * NANOS_PER_DAY;
  await store(
    [midnight, midnight - 1n, midnight + 999_999_999n].map((tsNanos) => ({
      tsNanos,
      visitorId: visitors[0] ?? '',
    })),
  );
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => stores.close());

async function store(given: Partial<GivenClick>[]): Promise<void> {
  const defaults = { workspaceId: workspaces[0], linkId: links[0] };
  clicks.push(
    ...(await storeClicks(
      stores,
      given.map((click) => ({ ...defaults, ...click })),
    )),
  );
}

/** A client that has cached no roll-ups. */
function freshClient(): ClickHouseClient {
  const client = createClickHouse({ url: stores.clickhouseUrl, database: stores.clickhouseDatabase });
  clients.push(client);
  return client;
}

const pass = (closed = CLOSED, now = Date.now()) => rollUp(stores.clickhouse, closed, now);

async function stored(condition = 'true'): Promise<number> {
  const result = await stores.clickhouse.query({
    query: `SELECT count() AS rows FROM clicks_by_visitor WHERE ${condition}`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ rows: string }>();
  return Number(row?.rows);
}

const own = (workspaceId: string, visitorId: string) =>
  clicks
    .filter((click) => click.workspaceId === workspaceId && click.visitorId === visitorId)
    .sort((a, b) => (a.tsNanos < b.tsNanos ? -1 : 1));

let comparisons = 0;

/**
 * Compares the clicks of every visitor with those that were stored. Journeys take two queries each, so each call
 * compares another third of them.
 */
async function expectAll(client = freshClient()): Promise<void> {
  const third = comparisons++ % 3;
  // The first visitor has special clicks.
  const journeys = visitors.filter((_, n) => n === 0 || n % 3 === third);
  for (const workspaceId of workspaces) {
    for (const visitorId of journeys) {
      const journey = await visitorJourney(client, { workspaceId, visitorId, hasDeletedLinks: false }, 1_000);
      const steps = journey?.steps.map(({ tsNanos }) => tsNanos) ?? [];
      expect(steps).toEqual(own(workspaceId, visitorId).map(({ tsNanos }) => tsNanos));
    }
    const newest = await newestClickOf(client, workspaceId, visitors);
    expect(new Map(newest.map((click) => [click.visitor_id, click.tsNanos]))).toEqual(
      new Map(
        visitors.flatMap((visitor) =>
          own(workspaceId, visitor)
            .slice(-1)
            .map((click) => [visitor, click.tsNanos]),
        ),
      ),
    );
  }
  const orders = visitors.flatMap((visitorId, n) =>
    workspaces.map((workspaceId, w): ClickSpan => {
      const to = Number((START + BigInt(DAYS + 1 - n / 2 - (n % 2 ? 0.5 : 0)) * NANOS_PER_DAY) / 1_000n);
      return { position: 2 * n + w, workspaceId, visitorId, from: to - 20 * 86_400_000_000, to };
    }),
  );
  const people = ({ workspaceId, visitorId, to }: ClickSpan) =>
    own(workspaceId, visitorId).filter(({ isBot, tsNanos }) => !isBot && tsNanos < BigInt(to) * 1_000n);
  const expected = orders.flatMap((order): [number, Origin][] => {
    const own = people(order);
    const [first] = own;
    const other = own.findIndex(({ channel }) => channel !== 'bio');
    const before = own.slice(0, other < 0 ? own.length : other).map(({ linkId }) => linkId);
    const otherChannel = own[other]?.channel ?? '';
    return first
      ? [[order.position, { channel: first.channel, bioLinks: [...new Set(before)], otherChannel }]]
      : [];
  });
  expect(await origins(client, orders)).toEqual(new Map(expected));
  const before = new Map<number, number>();
  for (const { position, clicks } of await clicksBeforeOrders(client, orders)) {
    before.set(position, (before.get(position) ?? 0) + clicks);
  }
  const counted = orders.map(
    (order) => people(order).filter(({ tsNanos }) => tsNanos >= BigInt(order.from) * 1_000n).length,
  );
  expect(orders.map(({ position }) => before.get(position) ?? 0)).toEqual(counted);
}

describe('the clicks of visitors, in journeys and before orders, are the same', () => {
  test('before any day is listed', async () => {
    await expectAll();
    expect(await stored()).toBe(0);
  });

  test('after a first pass has listed some days', async () => {
    await pass('2026-01-02');
    await expectAll();
  });

  test('after every ended day is listed, also for a client that read the list before', async () => {
    const early = freshClient();
    await expectAll(early);
    expect((await pass()).made).toContain('day 2026-01-17');
    expect((await pass()).made).toEqual([]);
    await expectAll(early);
    await expectAll();
    const closed = parseInstant(CLOSED) ?? 0n;
    expect(await stored()).toBe(clicks.filter(({ tsNanos }) => tsNanos < closed).length);
  });

  test('after clicks arrived late, one of them of a bot on a day without others, after the next pass', async () => {
    const [visitorId = ''] = visitors;
    await store([
      { tsNanos: START + 7n * NANOS_PER_DAY + 3n, visitorId },
      { tsNanos: START - 9n * NANOS_PER_DAY, visitorId, isBot: true },
    ]);
    expect((await pass()).made).toEqual(expect.arrayContaining(['day 2025-12-11', 'day 2025-12-27']));
    expect((await pass()).made).toEqual([]);
    await expectAll();
  });

  test('while rows of an interrupted pass exist, and after they are removed', async () => {
    await stores.clickhouse.command({
      query: `INSERT INTO clicks_by_visitor SELECT workspace_id, visitor + 1, at, 7 FROM clicks_by_visitor`,
    });
    await expectAll();
    await store([{ tsNanos: START + 8n * NANOS_PER_DAY }]);
    await pass(CLOSED, Date.now() + 5_400_000);
    await expect.poll(() => stored('generation = 7')).toBe(0);
    await expectAll();
  });
});

test('a listed click is found by the list alone', async () => {
  const [, visitorId = ''] = visitors;
  await stores.clickhouse.command({
    query: `ALTER TABLE clicks_by_visitor DELETE WHERE visitor = toUInt32(cityHash64({visitor:UUID})) SETTINGS mutations_sync = 1`,
    query_params: { visitor: visitorId },
  });
  const [workspaceId] = workspaces;
  const journey = await visitorJourney(
    freshClient(),
    { workspaceId, visitorId, hasDeletedLinks: false },
    1_000,
  );
  const closed = parseInstant(CLOSED) ?? 0n;
  const open = own(workspaceId, visitorId).filter(({ tsNanos }) => tsNanos >= closed);
  expect(open.length).toBeLessThan(own(workspaceId, visitorId).length);
  expect(journey?.steps.map(({ tsNanos }) => tsNanos) ?? []).toEqual(open.map(({ tsNanos }) => tsNanos));
});

test('an erased visitor is not in the list an hour after the next pass', async () => {
  const [, , visitorId = ''] = visitors;
  const listed = `visitor = toUInt32(cityHash64(toUUID('${visitorId}')))`;
  expect(await stored(listed)).toBeGreaterThan(0);
  await stores.clickhouse.command({
    query: 'ALTER TABLE clicks DELETE WHERE visitor_id = {visitor:UUID} SETTINGS mutations_sync = 1',
    query_params: { visitor: visitorId },
  });
  await pass();
  await store([{ tsNanos: START + 9n * NANOS_PER_DAY }]);
  await pass(CLOSED, Date.now() + 5_400_000);
  await expect.poll(() => stored(listed)).toBe(0);
});
