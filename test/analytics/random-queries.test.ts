import { Registry } from 'prom-client';
import { describe, expect } from 'vitest';
import type { AnalyticsResult } from '../../api/analytics/schemas.ts';
import {
  DIMENSIONS,
  type Dimension,
  METRICS,
  OPERATORS,
  TEXT_COLUMNS,
} from '../../core/analytics/dimensions.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { noteLeads } from '../../sql/orders/leads.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { ATTRIBUTION_MODELS } from '../../sql/workspaces/workspaces.ts';
import { attribute } from '../../workers/attribution/attribute.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { createLink } from '../support/links.ts';
import { storeClicks } from '../support/stored-events.ts';
import { type ModelIdentify, type ModelOrder, sharesOfEvents } from './attribution-model.ts';
import { answer, type ModelData, type ModelFilter, type ModelQuery, type ModelRow } from './model.ts';
import { type Random, randomFrom } from './random.ts';

/** `QUERIES=2000` for a long run. */
const QUERIES = Number(process.env.QUERIES ?? 120);
const PER_DATA_SET = 60;
/** When clocks are changed in four zones, in both directions, on different days. A data set has one of the two. */
const PERIODS = [
  // Back: Berlin 25 October, New York 1 November. Forward: Santiago 6 September, Lord Howe by half an hour 4 October.
  { from: Date.parse('2026-09-03T00:00:00Z'), to: Date.parse('2026-11-05T00:00:00Z') },
  // Forward: New York 8 March, Berlin 29 March. Back: Santiago and Lord Howe 5 April.
  { from: Date.parse('2026-03-05T00:00:00Z'), to: Date.parse('2026-04-09T00:00:00Z') },
] as const;
type Period = (typeof PERIODS)[number];
const periodOf = (seed: number): Period => PERIODS[seed % 2 === 1 ? 0 : 1];
const LAST = Date.parse('2026-11-05T00:00:00Z');
/** Of attribution. */
const WINDOW_DAYS = 10;
const CHANGED_ZONES = ['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe'];
const ZONES = ['UTC', 'Asia/Kolkata', ...CHANGED_ZONES];

/** Few values of each column, so that groups are large, one of them unknown. */
const VALUES: Record<string, readonly string[]> = {
  channel: ['facebook', 'twitter', 'newsletter'],
  country: ['DE', 'AT', ''],
  continent: ['EU', ''],
  region: ['DE-BE', 'DE-BY', ''],
  city: ['Berlin', 'München', 'São Paulo', ''],
  language: ['de', 'en', ''],
  device: ['mobile', 'desktop'],
  os: ['iOS', 'Android', ''],
  browser: ['Safari', 'Chrome', ''],
  referer_host: ['t.co', 'news.example', ''],
  source: ['Google', 'ChatGPT', 'direct'],
  source_kind: ['search', 'ai', 'direct'],
  trigger: ['link', 'qr'],
  domain: ['go.example', ''],
  slug: ['Sale', 'sale', 'x-1', ''],
  utm_source: ['facebook', "O'Hara \\ \t", ''],
  utm_medium: ['social', 'E-Mail', ''],
  utm_campaign: ['Herbst Überraschung', 'autumn', ''],
  utm_term: ['shoes', ''],
  utm_content: ['a', 'b', ''],
  ad_network: ['google', 'meta', ''],
  rule_id: ['r1', ''],
  variant_id: ['A', 'B', ''],
};

test.beforeAll(async ({ api }) => {
  const stream = await registerStream(api.stores.pool, 'ingest-0');
  await advanceStreams(api.stores.pool, [{ ...stream, highWater: 0n, visibleBefore: (LAST + 1) * 1_000 }]);
});

async function dataSet(
  api: TestApi,
  random: Random,
  { from, to }: Period,
): Promise<{ shop: TestWorkspace; data: ModelData }> {
  const model = random.pick(ATTRIBUTION_MODELS);
  const shop = await api.addWorkspace({ attribution_model: model, attribution_window: WINDOW_DAYS });
  const links: ModelData['links'] = new Map();
  const folder = await shop.post<{ id: string }>('/folders', { name: 'Autumn' });
  for (let n = 0; n < 5; n++) {
    const tags = random.some(['red', 'Green', 'greenish', "b'lue"], 0, 3);
    const folderId = random.chance(0.5) ? folder.body.id : null;
    const body = { destination_url: 'https://shop.example/', name: `Campaign ${n}`, tags };
    const created = await createLink(shop, {
      ...body,
      channels: random.some(['facebook', 'slack', 'reddit'], 1, 2),
      ...(folderId && { folder_id: folderId }),
    });
    for (const { id } of created.links)
      links.set(id, { campaign: created.destination_id, tags, folder: folderId });
  }
  const ids = [...links.keys()];
  const visitors = Array.from({ length: 25 }, () => uuidv7());
  const times = new Set<number>();
  const time = (): number => {
    const at = (from + random.below(to - from)) * 1_000 + random.below(1_000);
    if (times.has(at)) return time();
    times.add(at);
    return at;
  };
  const columnsOf = () => ({
    ...Object.fromEntries(Object.entries(VALUES).map(([name, values]) => [name, random.pick(values)])),
    asn: random.pick([0, 3320, 13335]),
  });
  const rows: ModelRow[] = Array.from({ length: 250 }, () => ({
    micros: time(),
    link: random.pick(ids),
    columns: columnsOf(),
    click: { visitor: random.pick(visitors), isBot: random.chance(0.15) },
  }));
  await storeClicks(
    api.stores,
    rows.map(({ micros, link, columns, click }) => ({
      workspaceId: shop.workspace.id,
      tsNanos: BigInt(micros) * 1_000n,
      linkId: link,
      visitorId: click?.visitor ?? '',
      isBot: click?.isBot ?? false,
      columns,
    })),
  );
  const events = randomEvents(random, visitors, time);
  await storeAndAttribute(api, shop.workspace.id, events);
  const shares = sharesOfEvents({ ...events, clicks: rows, model, window: WINDOW_DAYS });
  expect(shares.filter(({ share }) => (share?.orders ?? 0) > 0).length).toBeGreaterThan(10);
  expect(shares.filter(({ share }) => (share?.leads ?? 0) > 0).length).toBeGreaterThan(0);
  return { shop, data: { rows: [...rows, ...shares], links } };
}

type Events = { identifies: ModelIdentify[]; orders: ModelOrder[] };

function randomEvents(random: Random, visitors: readonly string[], time: () => number): Events {
  const emails = Array.from({ length: 12 }, (_, n) => `person-${n}@mail.example`);
  return {
    identifies: Array.from({ length: 30 }, () => ({
      micros: time(),
      visitor: random.pick(visitors),
      email: random.pick(emails),
    })),
    orders: Array.from({ length: 40 }, (_, n) => ({
      micros: time(),
      orderId: `order-${n}`,
      visitor: random.chance(0.8) ? random.pick(visitors) : null,
      email: random.chance(0.4) ? random.pick(emails) : null,
      amountMinor: random.below(10_000),
    })),
  };
}

/** Stores identifies and orders as a lane does, in any order, and attributes them. */
async function storeAndAttribute(
  api: TestApi,
  workspaceId: string,
  { identifies, orders }: Events,
): Promise<void> {
  const { pool, readers, replicas } = api.stores;
  const stored = { workspaceId, streamOrdinal: 0, externalUserId: null };
  for (const { micros: ts, visitor: visitorId, email } of identifies) {
    await upsertIdentities(pool, [{ ...stored, ts, visitorId, email, byServer: false }]);
    await noteLeads(pool, [{ ...stored, ts, visitorId, email, otherVisitorIds: [] }]);
  }
  await upsertOrders(
    pool,
    orders.map(({ micros: ts, orderId, visitor: visitorId, email, amountMinor }) => ({
      ...stored,
      ...{ ts, orderId, visitorId, email, amountMinor, currency: 'usd', source: 'server' as const },
    })),
  );
  const metrics = createWorkerMetrics(new Registry());
  const dependencies = { pool, readers, replicas, metrics, log: silentLogger() };
  while (await attribute(dependencies, 'orders'));
  while (await attribute(dependencies, 'leads'));
}

/** Midnights of the zone in a period. */
function midnights(zone: string, { from, to }: Period): number[] {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
  const found: number[] = [];
  for (let at = from; at <= to; at += 30 * 60_000) {
    if (day.format(at) !== day.format(at - 1)) found.push(at);
  }
  return found;
}

const windowOf = (from = 0, to = 0) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

function windowOfDays(random: Random, zone: string, period: Period): { from: string; to: string } {
  const all = midnights(zone, period);
  const from = random.below(all.length - 1);
  return windowOf(all[from], all[from + 1 + random.below(all.length - 1 - from)]);
}

/** Days that are longer or shorter than 24 hours, by an hour or by half an hour. */
function changedDays(zone: string, period: Period): { from: string; to: string }[] {
  const all = midnights(zone, period);
  return all.flatMap((from, n) => {
    const to = all[n + 1];
    return to === undefined || to - from === 86_400_000 ? [] : [windowOf(from, to)];
  });
}

function randomWindow(random: Random, period: Period): { from: string; to: string } {
  const quarter = 15 * 60_000;
  const from =
    period.from +
    random.below((period.to - period.from) / quarter - 200) * quarter +
    (random.chance(0.5) ? random.below(quarter) : 0);
  return windowOf(from, random.chance(0.6) ? period.to : from + (1 + random.below(190)) * quarter);
}

function randomFilter(random: Random, data: ModelData, timeZone: string): ModelFilter {
  const dimension = random.pick(DIMENSIONS.filter((name) => name !== 'time:minute'));
  const operator = random.pick(OPERATORS);
  if (operator === 'is_empty') return { dimension, operator };
  const values = random.some(valuesFor(dimension, data, timeZone), 1, 2);
  return {
    dimension,
    operator,
    values: operator.startsWith('contains') ? values.map((value) => partOf(random, value)) : values,
  };
}

function valuesFor(dimension: Dimension, data: ModelData, timeZone: string): string[] {
  const links = [...data.links];
  switch (dimension) {
    case 'link':
      return links.map(([id]) => id);
    case 'campaign':
      return [...new Set(links.map(([, { campaign }]) => campaign))];
    case 'folder':
      return [...new Set(links.flatMap(([, { folder }]) => folder ?? []))].concat(uuidv7());
    case 'tag':
      return ['red', 'Green', 'greenish', "b'lue", 'none'];
    case 'asn':
      return ['3320', '13335', '1'];
    case 'weekday':
      return ['1', '3', '7'];
    case 'hour_of_day':
      return ['0', '2', '13', '23'];
    case 'time:day':
    case 'time:week':
      return [
        '2026-10-25',
        '2026-10-19',
        '2026-11-02',
        '2026-03-08',
        '2026-03-29',
        '2026-03-30',
        '2026-04-05',
      ];
    case 'time:month':
      return ['2026-10', '2026-11', '2026-03'];
    case 'time:hour':
    case 'time:minute':
      return timeZone === 'Europe/Berlin'
        ? ['2026-10-25T02:00:00+01:00', '2026-10-25T02:00:00+02:00', '2026-03-29T03:00:00+02:00']
        : ['2026-10-25T02:00:00+00:00', '2026-03-29T02:00:00+00:00'];
    default:
      return (VALUES[TEXT_COLUMNS[dimension]] ?? []).filter((value) => value !== '');
  }
}

/** A part of a value, with its case changed. */
function partOf(random: Random, value: string): string {
  const from = random.below(value.length);
  const part = value.slice(from, from + 1 + random.below(4));
  return random.chance(0.5) ? part.toUpperCase() : part.toLowerCase();
}

function randomQuery(random: Random, data: ModelData, period: Period): ModelQuery {
  const time_zone = random.pick(ZONES);
  const changed = changedDays(time_zone, period);
  const window =
    changed.length > 0 && random.chance(0.25)
      ? random.pick(changed)
      : random.chance(0.3)
        ? windowOfDays(random, time_zone, period)
        : randomWindow(random, period);
  const isLong = Date.parse(window.to) - Date.parse(window.from) > 3 * 86_400_000;
  // Every bucket of every value has a row: minutes of long windows would be too many for the model.
  const candidates = DIMENSIONS.filter((name) => name !== 'time:minute' && !(isLong && name === 'time:hour'));
  const dimensions = random.some(candidates, 0, 3);
  const metrics = random.some(METRICS, 1, METRICS.length);
  const compare = random.chance(0.3)
    ? random.chance(0.5)
      ? ('previous' as const)
      : randomWindow(random, period)
    : undefined;
  const filters = Array.from({ length: random.pick([0, 0, 1, 1, 2, 3]) }, () =>
    random.chance(0.25)
      ? { any: Array.from({ length: 1 + random.below(3) }, () => randomFilter(random, data, time_zone)) }
      : randomFilter(random, data, time_zone),
  );
  return {
    metrics,
    dimensions,
    filters,
    window,
    ...(compare && { compare }),
    time_zone,
    bots: random.pick(['exclude', 'exclude', 'include', 'only'] as const),
    order_by: random.chance(0.5)
      ? []
      : random
          .some([...metrics, ...dimensions], 1, 2)
          .map((by) => ({ by, direction: random.pick(['asc', 'desc'] as const) })),
    limit: random.pick([5, 100, 1_000]),
    offset: random.pick([0, 0, 0, 2, 50]),
  };
}

describe(`${QUERIES} random queries`, () => {
  const sets = Math.ceil(QUERIES / PER_DATA_SET);
  test.for(Array.from({ length: sets }, (_, n) => n + 1))(
    'of data set %i, over days on which clocks change in four zones, equal a plain model of them',
    { timeout: 300_000 },
    async (seed, { api }) => {
      const random = randomFrom(seed);
      const period = periodOf(seed);
      for (const zone of CHANGED_ZONES) expect([zone, changedDays(zone, period).length]).toEqual([zone, 1]);
      const { shop, data } = await dataSet(api, random, period);
      await expectReportsToAgree(shop, data, period);
      for (let n = 0; n < Math.min(PER_DATA_SET, QUERIES - (seed - 1) * PER_DATA_SET); n++) {
        const query = randomQuery(random, data, period);
        const response = await shop.post<AnalyticsResult>('/analytics/query', query);
        const at = `query ${n}: ${JSON.stringify(query)}`;
        expect([response.status, response.text, at]).toEqual([200, response.text, at]);
        const { watermark: _, names: _names, ...result } = response.body;
        expect({ at, ...rounded(result) }).toEqual({ at, ...rounded(answer(data, query)) });
      }
    },
  );
});

/** The reports of channels and links have the figures of the model. */
async function expectReportsToAgree(
  shop: TestWorkspace,
  data: ModelData,
  { from, to }: Period,
): Promise<void> {
  const window = windowOf(from, to);
  const metrics = ['clicks', 'visitors', 'leads', 'conversions', 'revenue'] as const;
  for (const [path, dimension, rows, key] of [
    ['channels', 'channel', 'channels', 'channel'],
    ['links', 'link', 'links', 'link_id'],
  ] as const) {
    const query = { window, dimensions: [dimension], metrics: [...metrics], filters: [], time_zone: 'UTC' };
    const expected = answer(data, { ...query, bots: 'exclude', order_by: [], limit: 1_000, offset: 0 });
    const { body } = await shop.get<Record<string, Record<string, unknown>[]>>(
      `/${path}?from=${window.from}&to=${window.to}`,
    );
    const found = (body[rows] ?? []).map((row) => ({
      dimensions: { [dimension]: row[key] },
      metrics: Object.fromEntries(metrics.map((name) => [name, row[name]])),
    }));
    expect(rounded(sorted(found))).toEqual(rounded(sorted(expected.rows)));
  }
}

const sorted = <T>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Quotients are compared to twelve digits: they are sums of shares in another order. */
function rounded<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === 'number' && !Number.isInteger(part) ? Number(part.toPrecision(12)) : part,
  ) as T;
}
