import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { seededRandom } from '../../core/seeded-random.ts';
import { bucketStarts } from '../../core/time/time-buckets.ts';
import { NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { type GivenShares, storeClicks, storeShares } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { windowTotals } from '../../test/support/window-totals.ts';
import { runQuery } from '../queries/run-query.ts';
import { IN_SPAN, type Span } from '../queries/visible-clicks.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { analyticsRows, countedIn } from './analytics/query.ts';
import { ONE_MOMENT, partsFilled } from './cached-parts.ts';
import { cachedShares, wholeDays } from './cached-shares.ts';
import { channelsReport } from './channels.ts';
import { countedShares } from './counted-shares.ts';
import { lifetimeValues } from './lifetime-values.ts';
import type { ReportWindow } from './request.ts';

const START = parseInstant('2026-08-10') ?? 0n;
const HOUR = NANOS_PER_DAY / 24n;
const DAYS = 20;
/** From midday to midday: both edges are read order by order. */
const SPAN: Span = { from: START + 12n * HOUR, to: START + 17n * NANOS_PER_DAY + 12n * HOUR };
/** Long enough for buckets to be read from cached days. */
const LONG: Span = { from: SPAN.from - 120n * NANOS_PER_DAY, to: SPAN.to };
const LONG_AGO = '2026-09-01 00:00:00';

let stores: TestStores;
let workspaceId: string;
let orders: GivenShares[];

beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

/**
 * Eight orders a day, of three links of two channels, of people who came from two others; every fifth is shared by two
 * links.
 */
beforeEach(async () => {
  workspaceId = uuidv7();
  const links = [uuidv7(), uuidv7(), uuidv7()];
  const part = (n: number, share: number) => ({
    linkId: links[n % 3] ?? '',
    channel: n % 3 === 0 ? 'youtube' : 'tiktok',
    share,
    amountMinor: Math.round(share * (1_000 + n)),
  });
  orders = Array.from({ length: DAYS * 8 }, (_, n) => ({
    workspaceId,
    orderId: `order ${n}`,
    tsNanos: START + BigInt(n * 3) * HOUR + BigInt(n),
    firstChannel: n % 4 === 0 ? '' : n % 4 === 1 ? 'reddit' : 'twitter',
    written: LONG_AGO,
    parts: n % 5 === 0 ? [part(n, 0.5), part(n + 1, 0.5)] : [part(n, 1)],
  }));
  await storeShares(stores, orders);
  const at = (day: number) => ({
    workspaceId,
    tsNanos: START + BigInt(day) * NANOS_PER_DAY,
    channel: 'youtube',
  });
  await storeClicks(stores, [at(1), at(5), at(9)]);
  await rollUp(stores.clickhouse, '2026-09-20');
});

const exactWindow = (span = SPAN) => ({ workspaceId, span, hasDeleted: false });
const estimatedWindow = (span = SPAN) => ({ ...exactWindow(span), exactUpTo: 0 });
const ofWorkspace = () => ({ workspaceId, hasDeleted: false });

const BUCKET = { kind: 'bucket' } as const;
const CHANNEL = { kind: 'text', dimension: 'channel' } as const;

/** Rows by time: in buckets of whole days (UTC), with and without a channel, and in buckets that split these days. */
const inTime = (window: ReportWindow) =>
  Promise.all(
    (
      [
        [[BUCKET], 'day', 'UTC', []],
        [[BUCKET, CHANNEL], 'week', 'UTC', []],
        [[BUCKET], 'month', 'UTC', [{ ...CHANNEL, operator: 'is', values: ['tiktok'] }]],
        [[BUCKET], 'day', 'Asia/Kolkata', []],
      ] as const
    ).map(([keys, unit, zone, conditions]) =>
      analyticsRows(
        stores.clickhouse,
        {
          ...countedIn(window, keys, { metrics: ['leads', 'conversions', 'revenue', 'clicks'], conditions }),
          starts: bucketStarts(window.span, unit, zone, 1_000) ?? [],
        },
        { order: [{ by: 0, isDescending: false }], limit: 1_000, offset: 0 },
      ),
    ),
  );

/** The figures of all orders, read order by order. */
const truth = async () => ({
  channels: await channelsReport(stores.clickhouse, exactWindow()),
  inTime: await inTime(exactWindow(LONG)),
  totals: await windowTotals(stores.clickhouse, exactWindow()),
  values: await lifetimeValues(stores.clickhouse, ofWorkspace()),
});

/** The figures as a workspace with many clicks gets them, from the cache. */
const reported = async () => {
  const channels = await channelsReport(stores.clickhouse, estimatedWindow());
  await partsFilled(stores.clickhouse);
  const totals = await windowTotals(stores.clickhouse, estimatedWindow());
  await partsFilled(stores.clickhouse);
  const values = await lifetimeValues(stores.clickhouse, ofWorkspace(), true);
  await partsFilled(stores.clickhouse);
  return { channels, inTime: await inTime(estimatedWindow(LONG)), totals, values };
};

/** How often the shares of the workspace were cached. */
const timesCached = async () => {
  const [row] = await runQuery<{ times: string }>(stores.clickhouse, {
    sql: `SELECT uniqExact(made) AS times FROM cached_report_parts
          WHERE workspace_id = {workspace:UUID} AND startsWith(part, 'shares')`,
    params: { workspace: workspaceId },
    seconds: 20,
  });
  return Number(row?.times);
};

/** A version of an order that counts instead of the given one. */
const again = (before: GivenShares | undefined, hoursLater: number): GivenShares => {
  if (!before) throw new Error('no such order');
  const { written, ...order } = before;
  return {
    ...order,
    version: 2n,
    tsNanos: (order.tsNanos ?? 0n) + BigInt(hoursLater) * HOUR,
    parts: order.parts.map((part) => ({ ...part, amountMinor: part.amountMinor + 50_000 })),
    replaces: [{ ...order }],
  };
};

describe('shares that were requested again', () => {
  test('are cached by day, and report the same', async () => {
    const expected = await truth();
    expect(expected.values).toEqual(
      new Map([
        ['reddit', expect.any(BigInt)],
        ['twitter', expect.any(BigInt)],
      ]),
    );
    expect(await timesCached()).toBe(0);
    for (let time = 0; time < 3; time++) expect(await reported()).toEqual(expected);
    expect(await timesCached()).toBe(1);
    const narrower: Span = {
      from: SPAN.from + 3n * NANOS_PER_DAY + 5n * HOUR,
      to: SPAN.to - 2n * NANOS_PER_DAY,
    };
    expect(await channelsReport(stores.clickhouse, estimatedWindow(narrower))).toEqual(
      await channelsReport(stores.clickhouse, exactWindow(narrower)),
    );
  });

  test('are read from there', async () => {
    for (let time = 0; time < 3; time++) await reported();
    const { values } = await truth();
    await stores.clickhouse.command({
      query: 'DELETE FROM attributed_shares WHERE workspace_id = {workspace:UUID}',
      query_params: { workspace: workspaceId },
    });
    expect(await lifetimeValues(stores.clickhouse, ofWorkspace())).toEqual(new Map());
    expect((await reported()).values).toEqual(values);
    const rows = await channelsReport(stores.clickhouse, estimatedWindow());
    // The whole days' orders, without those of two half days.
    expect(rows.reduce((sum, { conversions }) => sum + conversions, 0)).toBe(16 * 8);
    const [days] = await inTime(estimatedWindow(LONG));
    expect(days?.rows.map(({ figures }) => figures.conversions).filter((found) => found > 0)).toEqual(
      Array(17).fill(8),
    );
    await stores.clickhouse.command({
      query: 'ALTER TABLE cached_report_parts UPDATE share = share + 1 WHERE true',
      clickhouse_settings: { mutations_sync: '2' },
    });
    expect(await channelsReport(stores.clickhouse, estimatedWindow())).not.toEqual(rows);
  });

  test('count by the highest version, whenever it arrives and wherever its time is', async () => {
    for (let time = 0; time < 3; time++) await reported();
    const before = await truth();
    const changes: GivenShares[] = [
      again(orders[40], 0.0), // on its own day
      again(orders[70], 72), // on a later one
      again(orders[90], 24 * 30), // out of the window
      again(orders[2], 24 * 6), // into it
      { ...again(orders[100], 0), orderId: 'late', version: 1n, replaces: [] },
    ].map((order, n) => ({ ...order, tsNanos: (order.tsNanos ?? 0n) + BigInt(n + 1) * 7n }));
    for (const change of changes) {
      await storeShares(stores, [change]);
      const expected = await truth();
      expect(expected.totals).not.toEqual(before.totals);
      expect(await reported()).toEqual(expected);
    }
    expect(await timesCached()).toBe(1);
    await stores.clickhouse.command({ query: 'OPTIMIZE TABLE attributed_shares FINAL' });
    expect(await reported()).toEqual(await truth());
  });

  test('are those of the orders after each of many random changes', async () => {
    for (let time = 0; time < 3; time++) await reported();
    const random = seededRandom(20_261_130);
    const below = (limit: number) => Math.floor(random() * limit);
    const versions = orders.map(({ written, ...order }) => ({ ...order, version: order.version ?? 1n }));
    for (let change = 0; change < 8; change++) {
      const changed = Array.from({ length: 1 + below(4) }, () => {
        const at = below(versions.length);
        const before = versions[at];
        const next = { ...again(before, below(24 * 12) - 24 * 6), version: (before?.version ?? 1n) + 1n };
        next.tsNanos = (next.tsNanos ?? 0n) + BigInt(change * 1_000 + at);
        // A refund takes the amount back; an order may move to another channel.
        if (below(3) === 0) next.parts = next.parts.map((part) => ({ ...part, share: 0, amountMinor: 0 }));
        if (below(4) === 0) next.parts = next.parts.map((part) => ({ ...part, channel: 'newsletter' }));
        versions[at] = { ...next, replaces: [] };
        return next;
      });
      for (const one of changed) await storeShares(stores, [one]);
      expect([change, await reported()]).toEqual([change, await truth()]);
    }
    expect(await timesCached()).toBe(1);
  });

  test('count when the rows of a version are written again', async () => {
    for (let time = 0; time < 3; time++) await reported();
    const [one] = orders.slice(60);
    const { written, ...same } = again(one, 0);
    await storeShares(stores, [{ ...same, version: 1n, tsNanos: one?.tsNanos ?? 0n, replaces: [] }]);
    expect(await reported()).toEqual(await truth());
  });

  test('are counted order by order where the cached sums have not arrived or were removed', async () => {
    for (let time = 0; time < 3; time++) await reported();
    const expected = await truth();
    await stores.clickhouse.command({ query: 'TRUNCATE TABLE cached_report_parts' });
    expect(await reported()).toEqual(expected);
  });

  test('are cached again after a while, and read from there', async () => {
    for (let time = 0; time < 3; time++) await reported();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 51 * 60_000);
    try {
      const { values } = await truth();
      await stores.clickhouse.command({
        query: 'ALTER TABLE cached_report_parts UPDATE amount_minor = 1 WHERE true',
        clickhouse_settings: { mutations_sync: '2' },
      });
      for (let time = 0; time < 2; time++) await reported();
      expect((await reported()).values).toEqual(values);
    } finally {
      clock.mockRestore();
    }
  });
});

test('an order that is replaced while a query runs counts once', async () => {
  for (let time = 0; time < 3; time++) await reported();
  expect(await timesCached()).toBe(1);
  const sum = async (settings: Record<string, number>) => {
    const [row] = await runQuery<{ orders: number }>(stores.clickhouse, {
      sql: `SELECT sum(share) AS orders FROM ${cachedShares(stores.clickhouse, workspaceId, 'link', 'window')}`,
      params: { workspace: workspaceId, ...SPAN, ...wholeDays(SPAN) },
      seconds: 20,
      settings,
    });
    return row?.orders;
  };
  const [exact] = await runQuery<{ orders: number }>(stores.clickhouse, {
    sql: `SELECT sum(share) AS orders FROM ${countedShares(IN_SPAN)}`,
    params: { workspace: workspaceId, ...SPAN },
    seconds: 20,
  });
  const slow = { ...ONE_MOMENT, merge_tree_storage_snapshot_sleep_ms: 150 };
  const sums = [sum(slow)];
  // Moves orders from a cached day to the edge of the window: a query of two moments would count them twice.
  for (const [n, order] of orders.slice(40, 50).entries()) {
    await delay(60);
    await storeShares(
      stores,
      [again(order, 24 * 11 + n)].map((late) => ({ ...late, tsNanos: SPAN.to - BigInt(n + 1) })),
    );
    sums.push(sum(slow));
  }
  for (const found of await Promise.all(sums)) expect(found).toBe(exact?.orders);
});

test('the whole days of a window', () => {
  const days = (from: bigint, to: bigint) => wholeDays({ from: START + from, to: START + to });
  expect(days(0n, NANOS_PER_DAY)).toEqual({ whole_from: '2026-08-10', whole_to: '2026-08-11' });
  expect(days(1n, 3n * NANOS_PER_DAY - 1n)).toEqual({ whole_from: '2026-08-11', whole_to: '2026-08-12' });
  expect(days(1n, 2n * NANOS_PER_DAY - 1n)).toBeNull();
  expect(wholeDays({ from: -NANOS_PER_DAY - 1n, to: 1n })).toEqual({
    whole_from: '1969-12-31',
    whole_to: '1970-01-01',
  });
});
