import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { TextDimension } from '../../core/analytics/dimensions.ts';
import { uuidv7 } from '../../core/ids.ts';
import { seededRandom } from '../../core/seeded-random.ts';
import { formatDay, NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { storeClicks, storeShares } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import type { Condition } from '../queries/click-conditions.ts';
import { runQuery } from '../queries/run-query.ts';
import type { Span } from '../queries/visible-clicks.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { analyticsRows, type Counted, countedIn } from './analytics/query.ts';
import { partsFilled } from './cached-parts.ts';

const START = parseInstant('2026-08-10') ?? 0n;
const HOUR = NANOS_PER_DAY / 24n;
const DAYS = 24;
const CLOSED = '2026-09-20';
/** From midday to midday: both edges are read click by click. */
const SPAN: Span = { from: START + 12n * HOUR, to: START + 22n * NANOS_PER_DAY + 12n * HOUR };
const COUNTRIES = ['DE', 'FR', 'US', ''];
const DEVICES = ['mobile', 'desktop', 'tablet'];
const PAGE = { order: [{ by: 'clicks', isDescending: true }], limit: 100, offset: 0 } as const;

let stores: TestStores;
let workspaceId: string;
const links = [uuidv7(), uuidv7(), uuidv7()];

beforeAll(async () => {
  stores = await testStores();
  workspaceId = uuidv7();
  const visitors = Array.from({ length: 40 }, () => uuidv7());
  const labels = (n: number) => ({
    linkId: links[n % 3] ?? '',
    channel: n % 3 === 0 ? 'youtube' : 'tiktok',
    columns: { country: COUNTRIES[(n * 7) % 4] ?? '', device: DEVICES[((n * 5) % 7) % 3] ?? '' },
  });
  await storeClicks(
    stores,
    Array.from({ length: DAYS * 24 }, (_, n) => ({
      workspaceId,
      tsNanos: START + BigInt(n) * HOUR + BigInt(n),
      visitorId: visitors[(n * 11) % visitors.length] ?? '',
      isBot: n % 9 === 0,
      ...labels(n),
      columns: { ...labels(n).columns, trigger: n % 5 === 0 ? 'qr' : 'link' },
    })),
  );
  await storeShares(
    stores,
    Array.from({ length: DAYS * 4 }, (_, n) => ({
      workspaceId,
      orderId: `order ${n}`,
      tsNanos: START + BigInt(n * 6) * HOUR + BigInt(n),
      written: '2026-09-01 00:00:00',
      parts: [{ share: 1, amountMinor: 1_000 + n, ...labels(n) }],
    })),
  );
  await rollUp(stores.clickhouse, CLOSED);
});
afterAll(() => stores.close());

const text = (dimension: TextDimension) => ({ kind: 'text', dimension }) as const;
const where = (dimension: TextDimension, operator: 'is' | 'is_not', ...values: string[]): Condition => ({
  ...text(dimension),
  operator,
  values,
});

const exactly = ({ window, ...counted }: Counted): Counted => ({
  ...counted,
  window: { ...window, exactUpTo: Number.MAX_SAFE_INTEGER },
});
const truthOf = (counted: Counted) => analyticsRows(stores.clickhouse, exactly(counted), PAGE);

/** Counts as for a workspace with many clicks, and waits until the parts that this began to compute are cached. */
async function ask(counted: Counted) {
  const found = await analyticsRows(stores.clickhouse, counted, PAGE);
  await partsFilled(stores.clickhouse);
  return found;
}

const question = (dimensions: TextDimension[], conditions: Condition[] = [], span = SPAN): Counted =>
  countedIn({ workspaceId, span, hasDeleted: false, exactUpTo: 0 }, dimensions.map(text), { conditions });

async function parts(kind: 'keys' | 'shares'): Promise<number> {
  const [row] = await runQuery<{ parts: string }>(stores.clickhouse, {
    sql: `SELECT uniqExact(part) AS parts FROM cached_report_parts
          WHERE workspace_id = {workspace:UUID} AND startsWith(part, {kind:String})`,
    params: { workspace: workspaceId, kind: `${kind}/` },
    seconds: 20,
  });
  return Number(row?.parts);
}

/** Doubles the clicks and the amounts of all cached parts: whoever reads them shows it. */
async function falsify(): Promise<void> {
  await stores.clickhouse.command({
    query:
      'ALTER TABLE cached_report_parts UPDATE clicks = 2 * clicks, amount_minor = 2 * amount_minor WHERE true',
    clickhouse_settings: { mutations_sync: '2' },
  });
}

const QUESTIONS: [name: string, dimensions: TextDimension[], conditions: Condition[]][] = [
  ['by country', ['country'], []],
  ['by country and device', ['country', 'device'], []],
  ['by trigger, an enumeration', ['trigger'], []],
  ['by country, under a condition', ['country'], [where('device', 'is', 'mobile')]],
  [
    'by country, under two conditions',
    ['country'],
    [where('device', 'is_not', 'tablet'), where('channel', 'is', 'tiktok')],
  ],
  ['by device, of some links', ['device'], [{ kind: 'links', ids: links.slice(0, 2), isInside: true }]],
  ['in all, under a condition', [], [where('country', 'is', 'DE', '')]],
  ['by country, where none matches', ['country'], [where('device', 'is', 'none')]],
];

test.each(QUESTIONS)('a window %s is the same from the cache', async (_, dimensions, conditions) => {
  const counted = question(dimensions, conditions);
  const truth = await truthOf(counted);
  for (let time = 0; time < 4; time++) expect(await ask(counted)).toEqual(truth);
  // Other edges of the same whole days.
  const narrower = question(dimensions, conditions, { from: SPAN.from + HOUR, to: SPAN.to - 3n * HOUR });
  expect(await ask(narrower)).toEqual(await truthOf(narrower));
});

test('the second request caches a shape, and the third reads it', async () => {
  const counted = question(['device'], [where('country', 'is', 'FR')]);
  const [clicks, shares] = [await parts('keys'), await parts('shares')];
  const truth = await ask(counted);
  expect([await parts('keys'), await parts('shares')]).toEqual([clicks, shares]);
  expect(await ask(counted)).toEqual(truth);
  expect([await parts('keys'), await parts('shares')]).toEqual([clicks + 1, shares + 1]);
  await falsify();
  const { totals } = await ask(counted);
  expect(totals.clicks).toBeGreaterThan(truth.totals.clicks);
  expect(totals.revenueMinor).toBeGreaterThan(truth.totals.revenueMinor);
  await stores.clickhouse.command({ query: 'TRUNCATE TABLE cached_report_parts' });
  expect(await ask(counted)).toEqual(truth);
});

test('a late click and a late order are in the figures once they are stored', async () => {
  const counted = question(['country'], [where('device', 'is', 'desktop')]);
  for (let time = 0; time < 3; time++) await ask(counted);
  const at = { workspaceId, tsNanos: START + 9n * NANOS_PER_DAY + 5n };
  const late = { linkId: links[0] ?? '', channel: 'youtube', columns: { country: 'DE', device: 'desktop' } };
  await storeClicks(stores, [{ ...at, ...late }]);
  await rollUp(stores.clickhouse, CLOSED);
  await storeShares(stores, [
    { ...at, orderId: 'late', parts: [{ ...late, share: 1, amountMinor: 70_000 }] },
  ]);
  const truth = await truthOf(counted);
  for (let time = 0; time < 3; time++) expect(await ask(counted)).toEqual(truth);
});

test('of many values, visitors are counted for a page and in all by a second query', async () => {
  const visitors = Array.from({ length: 90 }, () => uuidv7());
  // 1,500 cities; the first ones have more clicks than the others, on all days.
  await storeClicks(
    stores,
    Array.from({ length: 2_000 }, (_, n) => ({
      workspaceId,
      tsNanos: START + BigInt(n * 17) * (HOUR / 60n) + BigInt(n) * 1_000n + 3n,
      visitorId: visitors[(n * 31) % 89] ?? '',
      linkId: links[n % 3] ?? '',
      channel: 'youtube',
      columns: { city: `City ${n < 1_500 ? n : n % 40}`, device: 'mobile' },
    })),
  );
  await rollUp(stores.clickhouse, CLOSED);
  for (const counted of [question(['city']), question(['city'], [where('device', 'is', 'mobile')])]) {
    for (const page of [PAGE, { ...PAGE, limit: 20, offset: 10 }]) {
      const truth = await analyticsRows(stores.clickhouse, exactly(counted), page);
      expect(truth.totalRows).toBeGreaterThan(1_000);
      for (let time = 0; time < 3; time++) {
        expect(await analyticsRows(stores.clickhouse, counted, page)).toEqual(truth);
        await partsFilled(stores.clickhouse);
      }
    }
    const texts: string[] = [];
    const { rows } = stores.clickhouse.queries;
    const spy = vi.spyOn(stores.clickhouse.queries, 'rows').mockImplementation((query) => {
      texts.push(query.sql);
      return rows(query);
    });
    await ask(counted);
    spy.mockRestore();
    expect(texts.filter((sql) => sql.includes('{only:'))).toHaveLength(1);
    // A page in the order of visitors needs those of all rows.
    const byVisitors = { ...PAGE, order: [{ by: 'visitors', isDescending: true }] } as const;
    expect(await analyticsRows(stores.clickhouse, counted, byVisitors)).toEqual(
      await analyticsRows(stores.clickhouse, exactly(counted), byVisitors),
    );
  }
});

test('figures are those of the clicks and orders after each of many random changes', async () => {
  const random = seededRandom(20_261_201);
  const below = (limit: number) => Math.floor(random() * limit);
  const questions = [
    question(['country']),
    question(['city']),
    question(['country', 'device'], [where('channel', 'is', 'youtube')]),
  ];
  for (const counted of questions) for (let time = 0; time < 3; time++) await ask(counted);
  for (let change = 0; change < 5; change++) {
    const day = START + BigInt(below(DAYS)) * NANOS_PER_DAY;
    const columns = {
      country: COUNTRIES[below(4)] ?? '',
      device: DEVICES[below(3)] ?? '',
      city: `City ${below(50)}`,
    };
    const at = { workspaceId, tsNanos: day + BigInt(below(24)) * HOUR + BigInt(change + 77) };
    const of = { linkId: links[below(3)] ?? '', channel: 'youtube', columns };
    if (below(4) === 0) {
      await stores.clickhouse.command({
        query: `ALTER TABLE clicks DELETE WHERE workspace_id = {workspace:UUID} AND toDate(ts) = {day:Date}
                AND country = {country:String}`,
        query_params: { workspace: workspaceId, day: formatDay(day), country: columns.country },
        clickhouse_settings: { mutations_sync: '2' },
      });
    } else {
      await storeClicks(stores, [{ ...at, ...of }]);
    }
    await rollUp(stores.clickhouse, CLOSED);
    await storeShares(stores, [
      { ...at, orderId: `random ${change}`, parts: [{ ...of, share: 1, amountMinor: 500 + below(9_000) }] },
    ]);
    for (const counted of questions) {
      const truth = await truthOf(counted);
      for (let time = 0; time < 3; time++) expect([change, await ask(counted)]).toEqual([change, truth]);
    }
  }
});

test('nothing is cached of a workspace with deleted links', async () => {
  const before = await parts('keys');
  const counted = question(['country'], [where('device', 'is', 'mobile')]);
  const withDeleted = { ...counted, window: { ...counted.window, hasDeleted: true } };
  for (let time = 0; time < 3; time++) await ask(withDeleted);
  expect(await parts('keys')).toBe(before);
});

test('bots are of another shape', async () => {
  const counted = { ...question(['country']), bots: 'only' as const };
  const truth = await truthOf(counted);
  for (let time = 0; time < 3; time++) expect(await ask(counted)).toEqual(truth);
  expect(truth.totals.clicks).not.toBe((await truthOf(question(['country']))).totals.clicks);
});
