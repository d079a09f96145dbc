import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { formatDay, NANOS_PER_DAY, nowNanos, parseInstant } from '../../core/time/timestamps.ts';
import { storeClicks, storeShares } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { windowTotals } from '../../test/support/window-totals.ts';
import { hideLinks } from '../erasures.ts';
import type { Span } from '../queries/visible-clicks.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { channelsReport } from './channels.ts';
import { coverIfLarge, readRollUps } from './window-plan.ts';

let stores: TestStores;
let workspaceId: string;
let queries = 0;

beforeAll(async () => {
  stores = await testStores();
  const { rows } = stores.clickhouse.queries;
  stores.clickhouse.queries.rows = (query) => {
    queries += 1;
    return rows(query);
  };
});
afterAll(() => stores.close());
beforeEach(() => {
  workspaceId = uuidv7();
});

const lastDays = (days: number) => ({ from: nowNanos() - BigInt(days) * NANOS_PER_DAY, to: nowNanos() });
const click = (given: object = {}) => storeClicks(stores, [{ workspaceId, channel: 'reddit', ...given }]);
const daysAgo = (days: number) => ({ tsNanos: nowNanos() - BigInt(days) * NANOS_PER_DAY });
const rollUpAll = () => rollUp(stores.clickhouse, formatDay(nowNanos()));

/** A report of channels is two queries at once: one of clicks and one of shares. */
async function reported({ days = 30, exactUpTo = 1_000_000, hasDeleted = false } = {}) {
  queries = 0;
  const window = { workspaceId, span: lastDays(days), hasDeleted, exactUpTo };
  const [reddit] = await channelsReport(stores.clickhouse, window);
  return { clicks: reddit?.clicks ?? 0, revenue: Number(reddit?.revenueMinor ?? 0n), queries };
}

describe('a window', () => {
  const START = parseInstant('2026-08-10') ?? 0n;
  const HOUR = NANOS_PER_DAY / 24n;
  const at = (day: number, hours: number) => START + BigInt(day) * NANOS_PER_DAY + BigInt(hours) * HOUR;
  const MIDDAYS: Span = { from: at(0, 12), to: at(58, 12) };
  const linkIds = [uuidv7(), uuidv7()];
  // One an hour; every ninth is a bot's. The last day is not rolled up.
  const given = Array.from({ length: 60 * 24 }, (_, n) => ({
    tsNanos: START + BigInt(n) * HOUR + BigInt(n),
    linkId: linkIds[n % 2] ?? '',
    isBot: n % 9 === 0,
  }));

  beforeEach(async () => {
    await storeClicks(
      stores,
      given.map((one) => ({ workspaceId, ...one })),
    );
    await rollUp(stores.clickhouse, '2026-10-08');
  });

  const isLarge = async (span: Span, exactUpTo: number, linkId?: string) => {
    const clicks = {
      ...{ workspaceId, span, hasDeleted: false, exactUpTo },
      condition: linkId === undefined ? '' : 'AND link_id = {link:UUID}',
      params: linkId === undefined ? {} : { link: linkId },
    };
    const rollUps = await readRollUps(stores.clickhouse, clicks);
    return (await coverIfLarge(stores.clickhouse, clicks, rollUps)) !== null;
  };
  const peopleIn = ({ from, to }: Span, linkId?: string) =>
    given.filter(
      (one) =>
        !one.isBot &&
        one.tsNanos >= from &&
        one.tsNanos < to &&
        (linkId === undefined || one.linkId === linkId),
    ).length;

  test('is large when it has more clicks than are counted exactly, wherever they are counted', async () => {
    const windows: Span[] = [
      MIDDAYS,
      { from: at(3, 0), to: at(5, 0) }, // whole days
      { from: at(3, 5), to: at(3, 9) }, // within a day
      { from: at(3, 20), to: at(4, 4) }, // no whole day
      { from: at(50, 3), to: at(80, 0) }, // beyond the newest, with days that are not rolled up
      { from: at(-50, 0), to: at(90, 0) },
      { from: at(-9, 0), to: at(-7, 0) }, // empty
    ];
    for (const span of windows) {
      for (const linkId of [undefined, linkIds[0]]) {
        const people = peopleIn(span, linkId);
        for (const upTo of [0, people - 1, people, people + 1, 1_000_000]) {
          if (upTo < 0) continue;
          const found = await isLarge(span, upTo, linkId);
          expect([span, linkId, upTo, found]).toEqual([span, linkId, upTo, people > upTo]);
        }
      }
    }
  });

  test('is large by the clicks of its workspace alone, when a period was counted twice', async () => {
    await stores.clickhouse.command({
      query: `INSERT INTO rolled_up_workspaces (workspace_id, generation, clicks)
              SELECT workspace_id, generation, sum(clicks) FROM clicks_rolled_up GROUP BY workspace_id, generation`,
    });
    const upTo = peopleIn(MIDDAYS);
    expect(await isLarge(MIDDAYS, upTo)).toBe(false);
    expect(await isLarge(MIDDAYS, upTo - 1)).toBe(true);
  });
});

test('the windows of a workspace with few clicks are planned without a query for ten minutes', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await click();
    expect((await reported()).queries).toBeGreaterThan(2);
    await click();
    expect(await reported()).toEqual({ clicks: 2, revenue: 0, queries: 2 });
    expect((await reported({ days: 7 })).queries).toBe(2);
    expect((await reported({ days: 60 })).queries).toBe(2);
    vi.advanceTimersByTime(600_001);
    expect((await reported()).queries).toBeGreaterThan(2);
  } finally {
    vi.useRealTimers();
  }
});

test('a window and its previous period are planned from the same roll-ups', async () => {
  const [now, earlier] = [
    lastDays(30),
    { from: nowNanos() - 60n * NANOS_PER_DAY, to: nowNanos() - 30n * NANOS_PER_DAY },
  ];
  const both = () =>
    Promise.all(
      [now, earlier].map((span) => windowTotals(stores.clickhouse, { workspaceId, span, hasDeleted: false })),
    );
  await both();
  queries = 0;
  await both();
  expect(queries).toBe(2);
});

test('a link that is deleted between two reports is out of the second', async () => {
  const [gone] = await click();
  await click();
  expect((await reported()).clicks).toBe(2);
  await hideLinks(stores.clickhouse, [{ workspaceId, targetId: gone?.linkId ?? '' }]);
  expect(await reported({ hasDeleted: true })).toMatchObject({ clicks: 1, queries: 2 });
});

test('an order whose shares change between two reports counts once', async () => {
  const orderId = uuidv7();
  const part = { linkId: uuidv7(), channel: 'reddit', share: 1, amountMinor: 1_000 };
  const order = { workspaceId, orderId, tsNanos: nowNanos() - NANOS_PER_DAY };
  const whole = { ...order, version: 1n, parts: [part] };
  await storeShares(stores, [whole]);
  expect(await reported()).toMatchObject({ revenue: 1_000 });
  const half = { ...part, share: 0.5, amountMinor: 500 };
  const shared = { ...order, version: 2n, parts: [half, half], replaces: [whole] };
  await storeShares(stores, [shared]);
  const again = { ...order, version: 3n, parts: [{ ...part, amountMinor: 700 }], replaces: [whole, shared] };
  await storeShares(stores, [again]);
  expect(await reported()).toMatchObject({ revenue: 700 });
  expect(await reported()).toMatchObject({ revenue: 700 });
});

test('a large window is planned from remembered roll-ups, with one query that checks them', async () => {
  for (const days of [3, 5, 9]) await click(daysAgo(days));
  await rollUpAll();
  expect(await reported({ days: 7, exactUpTo: 1 })).toMatchObject({ clicks: 2 });
  expect(await reported({ days: 7, exactUpTo: 1 })).toEqual({ clicks: 2, revenue: 0, queries: 3 });
  expect(await reported({ days: 30, exactUpTo: 1 })).toEqual({ clicks: 3, revenue: 0, queries: 3 });
});

test('a day that is rolled up again between two reports is in the second', async () => {
  for (const days of [3, 5]) await click(daysAgo(days));
  await rollUpAll();
  await reported({ days: 7, exactUpTo: 1 });
  await click(daysAgo(5));
  await rollUpAll();
  expect(await reported({ days: 7, exactUpTo: 1 })).toMatchObject({ clicks: 3 });
  expect(await reported({ days: 7, exactUpTo: 1 })).toEqual({ clicks: 3, revenue: 0, queries: 3 });
});

test('a link that is deleted between two reports of a large window is out of the second', async () => {
  const [gone] = await click(daysAgo(3));
  for (const days of [3, 5]) await click(daysAgo(days));
  await rollUpAll();
  expect((await reported({ days: 7, exactUpTo: 1 })).clicks).toBe(3);
  await hideLinks(stores.clickhouse, [{ workspaceId, targetId: gone?.linkId ?? '' }]);
  for (let time = 0; time < 3; time++) {
    expect((await reported({ days: 7, exactUpTo: 1, hasDeleted: true })).clicks).toBe(2);
  }
});

test('a window that is large by its edges alone has its clicks counted each time', async () => {
  await click(daysAgo(3));
  await click();
  await rollUpAll();
  for (let time = 0; time < 2; time++) {
    expect(await reported({ days: 7, exactUpTo: 1 })).toMatchObject({ clicks: 2 });
  }
});
