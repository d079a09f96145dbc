import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { formatDay, NANOS_PER_DAY, nowNanos } from '../../core/time/timestamps.ts';
import { storeClicks, storeCredits } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { hideLinks } from '../erasures.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { channelsReport } from './channels-report.ts';
import { workspaceStats } from './workspace-stats.ts';

let stores: TestStores;
let workspaceId: string;
let questions = 0;

beforeAll(async () => {
  stores = await testStores();
  const { rows } = stores.clickhouse.queries;
  stores.clickhouse.queries.rows = (asked) => {
    questions += 1;
    return rows(asked);
  };
});
afterAll(() => stores.close());
beforeEach(() => {
  workspaceId = uuidv7();
});

const lastDays = (days: number) => ({ from: nowNanos() - BigInt(days) * NANOS_PER_DAY, to: nowNanos() });
const click = (given: object = {}) => storeClicks(stores, [{ workspaceId, channel: 'reddit', ...given }]);

async function reported(days = 30, exactUpTo = 1_000_000) {
  questions = 0;
  const [reddit] = await channelsReport(stores.clickhouse, workspaceId, lastDays(days), exactUpTo);
  return { clicks: reddit?.clicks ?? 0, revenue: Number(reddit?.revenueMinor ?? 0n), questions };
}

test('a window that was small is not sized again, and neither is one inside it', async () => {
  await click();
  expect(await reported()).toEqual({ clicks: 1, revenue: 0, questions: 4 });
  await click();
  expect(await reported()).toEqual({ clicks: 2, revenue: 0, questions: 3 });
  expect((await reported(7)).questions).toBe(3);
  expect((await reported(31)).questions).toBe(4);
  expect((await reported(30)).questions).toBe(3);
});

test('windows of a dashboard and those before them are known side by side', async () => {
  const [now, earlier] = [
    lastDays(30),
    { from: nowNanos() - 60n * NANOS_PER_DAY, to: nowNanos() - 30n * NANOS_PER_DAY },
  ];
  const both = () =>
    Promise.all([now, earlier].map((span) => workspaceStats(stores.clickhouse, workspaceId, span, [])));
  await both();
  questions = 0;
  await both();
  expect(questions).toBe(4);
});

test('a link that is deleted between two reports is out of the second', async () => {
  const [gone] = await click();
  await click();
  expect((await reported()).clicks).toBe(2);
  await hideLinks(stores.clickhouse, [{ workspaceId, targetId: gone?.linkId ?? '' }]);
  expect(await reported()).toMatchObject({ clicks: 1, questions: 7 });
  expect(await reported()).toMatchObject({ clicks: 1, questions: 3 });
});

test('whether links were deleted is not asked where it is given, and taken as it is given', async () => {
  const [gone] = await click();
  await click();
  const told = async (hasDeleted: boolean) => {
    questions = 0;
    const of = [workspaceId, lastDays(30), undefined, { hasDeleted }] as const;
    const [reddit] = await channelsReport(stores.clickhouse, ...of);
    return [reddit?.clicks, questions];
  };
  expect(await told(false)).toEqual([2, 3]);
  expect(await told(false)).toEqual([2, 2]);
  await hideLinks(stores.clickhouse, [{ workspaceId, targetId: gone?.linkId ?? '' }]);
  expect((await told(true))[0]).toBe(1);
  expect(await told(true)).toEqual([1, 2]);
});

test('credit that is shared for the first time between two reports, and then no more, counts once', async () => {
  const orderId = uuidv7();
  const part = { linkId: uuidv7(), channel: 'reddit', share: 1, amountMinor: 1_000 };
  const order = { workspaceId, orderId, tsNanos: nowNanos() - NANOS_PER_DAY };
  const whole = { ...order, version: 1n, parts: [part] };
  await storeCredits(stores, [whole]);
  expect(await reported()).toMatchObject({ revenue: 1_000, questions: 4 });
  const half = { ...part, share: 0.5, amountMinor: 500 };
  const shared = { ...order, version: 2n, parts: [half, half], replaces: [whole] };
  await storeCredits(stores, [shared]);
  const again = { ...order, version: 3n, parts: [{ ...part, amountMinor: 700 }], replaces: [whole, shared] };
  await storeCredits(stores, [again]);
  expect(await reported()).toMatchObject({ revenue: 700 });
  expect(await reported()).toMatchObject({ revenue: 700, questions: 3 });
});

test('what one report may not count one by one is sized, whatever another found small', async () => {
  await click();
  await reported();
  questions = 0;
  const [reddit] = await channelsReport(stores.clickhouse, workspaceId, lastDays(30), 0);
  expect(reddit?.clicks).toBe(1);
  expect(questions).toBeGreaterThan(3);
});

const rollUpAll = () => rollUp(stores.clickhouse, formatDay(nowNanos()));
const daysAgo = (days: number) => ({ tsNanos: nowNanos() - BigInt(days) * NANOS_PER_DAY });

test('a window that was large is not sized again while its whole days are the same', async () => {
  for (const days of [3, 5, 9]) await click(daysAgo(days));
  await rollUpAll();
  expect(await reported(7, 1)).toEqual({ clicks: 2, revenue: 0, questions: 6 });
  expect(await reported(7, 1)).toEqual({ clicks: 2, revenue: 0, questions: 4 });
  // Another window beside it, and the first is still known.
  expect(await reported(30, 1)).toEqual({ clicks: 3, revenue: 0, questions: 6 });
  expect(await reported(30, 1)).toEqual({ clicks: 3, revenue: 0, questions: 4 });
  expect((await reported(7, 1)).questions).toBe(4);
  // What is more than one click need not be more than two.
  expect((await reported(30, 2)).questions).toBe(6);
});

test('a day that is rolled up anew between two reports is in the second', async () => {
  for (const days of [3, 5]) await click(daysAgo(days));
  await rollUpAll();
  await reported(7, 1);
  await click(daysAgo(5));
  await rollUpAll();
  expect(await reported(7, 1)).toEqual({ clicks: 3, revenue: 0, questions: 10 });
  expect(await reported(7, 1)).toEqual({ clicks: 3, revenue: 0, questions: 4 });
});

test('a link that is deleted between two reports of a large window is out of the second', async () => {
  const [gone] = await click(daysAgo(3));
  for (const days of [3, 5]) await click(daysAgo(days));
  await rollUpAll();
  expect((await reported(7, 1)).clicks).toBe(3);
  await hideLinks(stores.clickhouse, [{ workspaceId, targetId: gone?.linkId ?? '' }]);
  for (let time = 0; time < 3; time++) expect((await reported(7, 1)).clicks).toBe(2);
});

test('a window that is large by its edges alone is sized each time', async () => {
  await click(daysAgo(3));
  await click();
  await rollUpAll();
  for (let time = 0; time < 2; time++)
    expect(await reported(7, 1)).toMatchObject({ clicks: 2, questions: 7 });
});
