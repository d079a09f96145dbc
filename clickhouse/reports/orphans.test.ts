import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { NO_UUID, storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { windowTotals } from '../../test/support/window-totals.ts';
import { clicksBeforeOrders, origins } from '../queries/clicks-before-orders.ts';
import { countEvents } from '../queries/events-used.ts';
import { newestVisitors } from '../queries/newest-visitors.ts';
import { runQuery } from '../queries/run-query.ts';
import { visitorJourney } from '../queries/visitor-journey.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { channelsReport } from './channels.ts';
import { linksByFigure, linksReport } from './links.ts';

/** Visits of a domain that led to no link are in no report, whether it reads clicks or roll-ups. */

const START = parseInstant('2026-09-29') ?? 0n;
const SPAN = { from: START, to: START + 9n * NANOS_PER_DAY };
const CLOSED = '2026-10-07';

let stores: TestStores;
const workspaceId = uuidv7();
const linkId = uuidv7();
const [visitorId, lost] = [uuidv7(), uuidv7()];

beforeAll(async () => {
  stores = await testStores();
  const click = { workspaceId, visitorId, channel: 'reddit' };
  const orphan = { ...click, linkId: NO_UUID, columns: { domain: 'go.shop.example', slug: 'gone' } };
  await storeClicks(stores, [
    { ...click, linkId, tsNanos: START + 2n * NANOS_PER_DAY },
    { ...click, linkId, tsNanos: START + 3n * NANOS_PER_DAY },
    // Before the first click, on the days of the others, and on a day with nothing else.
    { ...orphan, tsNanos: START },
    { ...orphan, tsNanos: START + 3n * NANOS_PER_DAY + 1_000n },
    { ...orphan, tsNanos: START + 5n * NANOS_PER_DAY, visitorId: lost },
  ]);
});
afterAll(() => stores.close());

async function expectNoOrphans(): Promise<void> {
  const client = stores.clickhouse;
  for (const exactUpTo of [1_000_000, 0]) {
    const window = { workspaceId, span: SPAN, hasDeleted: false, exactUpTo };
    const figures = { clicks: 2, visitors: 1, leads: 0, conversions: 0, revenueMinor: 0n };
    expect(await channelsReport(client, window)).toEqual([{ channel: 'reddit', ...figures }]);
    expect(await linksReport(client, window, { kind: 'top', limit: 9, offset: 0 })).toEqual([
      { linkId, ...figures },
    ]);
    expect(await linksByFigure(client, window, 'clicks', 9)).toEqual([{ linkId, value: 2 }]);
    expect(await windowTotals(client, window)).toMatchObject(figures);
  }
}

test('reports leave them out before a roll-up', expectNoOrphans);

test('roll-ups leave them out, and the next pass finds nothing to do', async () => {
  expect((await rollUp(stores.clickhouse, CLOSED)).made).toEqual([
    ...['2026-09-29', '2026-10-01', '2026-10-02', '2026-10-04'].map((day) => `day ${day}`),
    'month 2026-09-01',
  ]);
  expect((await rollUp(stores.clickhouse, CLOSED)).made).toEqual([]);
  expect((await rolledUpPeriods(stores.clickhouse)).map(({ clicks }) => clicks)).toEqual([0, 0, 1, 1, 0]);
  const [row] = await runQuery<{ links: string[] }>(stores.clickhouse, {
    sql: 'SELECT groupUniqArray(toString(link_id)) AS links FROM clicks_rolled_up WHERE workspace_id = {workspace:UUID}',
    params: { workspace: workspaceId },
    seconds: 20,
  });
  expect(row?.links).toEqual([linkId]);
  await expectNoOrphans();
});

test('they are no events of the plan, and their visitors are not listed', async () => {
  const dates = [SPAN.from, SPAN.to].map((nanos) => new Date(Number(nanos / 1_000_000n)));
  const [from = new Date(), to = new Date()] = dates;
  expect(await countEvents(stores.clickhouse, workspaceId, from, to)).toBe(2);
  const listed = await newestVisitors(stores.clickhouse, workspaceId, 10);
  expect(listed.map((click) => click.visitor_id)).toEqual([visitorId]);
});

test('they are in no journey, also where it is cut', async () => {
  const firstSeen = START + 2n * NANOS_PER_DAY;
  for (const [limit, steps] of [
    [9, 2],
    [1, 1],
  ] as const) {
    const of = { workspaceId, visitorId, hasDeletedLinks: false };
    const journey = await visitorJourney(stores.clickhouse, of, limit);
    expect([journey?.steps.length, journey?.summary.firstSeenNanos]).toEqual([steps, firstSeen]);
  }
});

test('no order is credited to them', async () => {
  const span = { position: 0, workspaceId, from: Number(SPAN.from / 1_000n), to: Number(SPAN.to / 1_000n) };
  const spans = [visitorId, lost].map((one, position) => ({ ...span, position, visitorId: one }));
  const groups = await clicksBeforeOrders(stores.clickhouse, spans);
  expect(groups.map((group) => [group.position, group.linkId, group.clicks])).toEqual([[0, linkId, 2]]);
  expect([...(await origins(stores.clickhouse, spans)).keys()]).toEqual([0]);
});
