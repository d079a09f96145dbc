import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { windowTotals } from '../../test/support/window-totals.ts';
import { runQuery } from '../queries/run-query.ts';
import type { Span } from '../queries/visible-clicks.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { partsFilled } from './cached-parts.ts';
import { channelsReport } from './channels.ts';
import { linksReport } from './links.ts';

const START = parseInstant('2026-08-10') ?? 0n;
const DAYS = 60;
const CLOSED = '2026-10-08';
const HOUR = NANOS_PER_DAY / 24n;
/** From midday to midday: both edges are read click by click. */
const SPAN: Span = { from: START + 12n * HOUR, to: START + 58n * NANOS_PER_DAY + 12n * HOUR };
const CHANNELS = ['facebook', 'youtube', 'tiktok'];

let stores: TestStores;
const workspaceId = uuidv7();
const links = Array.from({ length: 6 }, () => uuidv7());
const visitors = Array.from({ length: 50 }, () => uuidv7());

beforeAll(async () => {
  stores = await testStores();
  // One click an hour; every ninth is a bot's.
  const given = Array.from({ length: DAYS * 24 }, (_, n) => ({
    workspaceId,
    tsNanos: START + BigInt(n) * HOUR + BigInt(n),
    linkId: links[n % links.length] ?? '',
    visitorId: visitors[(n * 7) % visitors.length] ?? '',
    channel: CHANNELS[n % CHANNELS.length] ?? '',
    isBot: n % 9 === 0,
  }));
  await storeClicks(stores, given);
  await rollUp(stores.clickhouse, CLOSED);
});
afterAll(() => stores.close());

const exactWindow = (span = SPAN) => ({ workspaceId, span, hasDeleted: false });
const estimatedWindow = (span = SPAN) => ({ ...exactWindow(span), exactUpTo: 0 });
const exact = (span?: Span) => channelsReport(stores.clickhouse, exactWindow(span));

/** Counts from roll-ups, and waits until the parts that this began to compute are cached. */
async function estimated(span?: Span) {
  const channels = await channelsReport(stores.clickhouse, estimatedWindow(span));
  await partsFilled(stores.clickhouse);
  return channels;
}

async function cachedRows(
  kind: 'channels' | 'links',
): Promise<{ parts: number; rows: number; links: string[] }> {
  const [row] = await runQuery<{ parts: string; rows: string; links: string[] }>(stores.clickhouse, {
    sql: `SELECT uniqExact(part) AS parts, count() AS rows, arraySort(groupUniqArray(toString(link_id))) AS links
          FROM cached_report_parts WHERE workspace_id = {workspace:UUID} AND startsWith(part, {kind:String})`,
    params: { workspace: workspaceId, kind },
    seconds: 20,
  });
  return { parts: Number(row?.parts), rows: Number(row?.rows), links: row?.links ?? [] };
}
const dropCached = () => stores.clickhouse.command({ query: 'TRUNCATE TABLE cached_report_parts' });

test('a cover is cached when it is requested again, and reports the same', async () => {
  const truth = await exact();
  expect(await estimated()).toEqual(truth);
  expect(await cachedRows('channels')).toMatchObject({ parts: 0, rows: 0 });
  expect(await estimated()).toEqual(truth);
  expect(await cachedRows('channels')).toMatchObject({ parts: 1, rows: CHANNELS.length });
  expect(await estimated()).toEqual(truth);
  // The same whole days, other edges.
  const narrower: Span = { from: SPAN.from + HOUR, to: SPAN.to - 3n * HOUR };
  expect(await estimated(narrower)).toEqual(await exact(narrower));
  const [rolledUp, counted] = await Promise.all([
    windowTotals(stores.clickhouse, estimatedWindow()),
    windowTotals(stores.clickhouse, exactWindow()),
  ]);
  expect(rolledUp).toEqual(counted);
  expect(await cachedRows('channels')).toMatchObject({ parts: 1, rows: CHANNELS.length });
});

test('ClickHouse evaluates a scalar subquery once, however often a query has it', async () => {
  const above = `(SELECT generateUUIDv4() FROM system.one) > toUUID('80000000-0000-0000-0000-000000000000')`;
  for (let time = 0; time < 20; time++) {
    const rows = await runQuery(stores.clickhouse, {
      sql: `SELECT number FROM numbers(1) WHERE ${above} UNION ALL SELECT number FROM numbers(1) WHERE NOT ${above}`,
      params: {},
      seconds: 20,
    });
    expect(rows).toHaveLength(1);
  }
});

describe('links that were shown', () => {
  const top = (limit: number, window = exactWindow()) =>
    linksReport(stores.clickhouse, window, { kind: 'top', limit, offset: 0 });

  async function estimatedTop(limit: number) {
    const shown = await top(limit, estimatedWindow());
    await partsFilled(stores.clickhouse);
    return shown;
  }

  /** Caches rows that say that each of some links had one visitor. */
  const pretend = (linkIds: readonly string[]) =>
    stores.clickhouse.command({
      query: `INSERT INTO cached_report_parts (workspace_id, part, link_id, clicks, visitors)
        SELECT workspace_id, replaceOne(part, 'channels', 'links'), arrayJoin({links:Array(UUID)}) AS link_id, 1,
          uniqCombined64State(17)(generateUUIDv4())
        FROM (SELECT DISTINCT workspace_id, part FROM cached_report_parts
          WHERE workspace_id = {workspace:UUID} AND startsWith(part, 'channels'))
        GROUP BY workspace_id, part, link_id`,
      query_params: { workspace: workspaceId, links: linkIds },
    });

  test('are cached when they are shown again, and only they', async () => {
    const truth = await top(3);
    expect(await estimatedTop(3)).toEqual(truth);
    expect((await cachedRows('links')).rows).toBe(0);
    for (let time = 0; time < 2; time++) expect(await estimatedTop(3)).toEqual(truth);
    expect((await cachedRows('links')).links).toEqual(truth.map(({ linkId }) => linkId).sort());
  });

  test('and links beside them are counted alike, and cached in their turn', async () => {
    const truth = await top(6);
    for (let time = 0; time < 3; time++) expect(await estimatedTop(6)).toEqual(truth);
    expect((await cachedRows('links')).links).toEqual([...links].sort());
    const some = { kind: 'ids', ids: [links[1] ?? '', links[4] ?? ''] } as const;
    expect(await linksReport(stores.clickhouse, estimatedWindow(), { ...some, ids: [...some.ids] })).toEqual(
      await linksReport(stores.clickhouse, exactWindow(), { ...some, ids: [...some.ids] }),
    );
  });

  test('alone have their visitors counted', async () => {
    await dropCached();
    const [first, , third] = await top(6);
    const some = [first?.linkId, third?.linkId];
    const shown = async (window = estimatedWindow()) => {
      const choice = { kind: 'top', limit: 6, offset: 0 } as const;
      const rows = await linksReport(stores.clickhouse, window, choice, async (all) =>
        all.filter(({ linkId }) => some.includes(linkId)),
      );
      await partsFilled(stores.clickhouse);
      return rows;
    };
    for (let time = 0; time < 3; time++) expect(await shown()).toEqual([first, third]);
    expect((await cachedRows('links')).links).toEqual(some.sort());
  });

  test('have the visitors of the cache, and the others those of the roll-ups', async () => {
    await dropCached();
    const narrower: Span = { from: SPAN.from + 2n * NANOS_PER_DAY, to: SPAN.to };
    for (let time = 0; time < 2; time++) await estimated(narrower);
    const window = { ...estimatedWindow(), span: narrower };
    const truth = await top(6, { ...exactWindow(), span: narrower });
    const [first = '', ...rest] = links;
    await pretend([first]);
    const found = new Map((await top(6, window)).map((row) => [row.linkId, row.visitors]));
    const counted = new Map(truth.map(({ linkId, visitors }) => [linkId, visitors]));
    expect(found.get(first)).toBeLessThan(counted.get(first) ?? 0);
    for (const link of rest) expect([link, found.get(link)]).toEqual([link, counted.get(link)]);
    await partsFilled(stores.clickhouse);
    await dropCached();
  });
});

/** A window of its own, whose cover no test has requested yet. */
let days = 0;
async function cachedWindow(): Promise<Span> {
  days += 1;
  const span = { from: SPAN.from + BigInt(days) * NANOS_PER_DAY, to: SPAN.to - NANOS_PER_DAY };
  for (let time = 0; time < 2; time++) await estimated(span);
  expect((await cachedRows('channels')).rows).toBeGreaterThan(0);
  return span;
}

test('a cover that was cached twice counts once', async () => {
  const span = await cachedWindow();
  const truth = await exact(span);
  await stores.clickhouse.command({
    query: `INSERT INTO cached_report_parts (workspace_id, part, channel, clicks, visitors, made)
            SELECT workspace_id, part, channel, clicks, visitors, made + 1 FROM cached_report_parts`,
  });
  expect(await estimated(span)).toEqual(truth);
});

test('a day that is rolled up again makes another cover', async () => {
  const span = await cachedWindow();
  const before = (await cachedRows('channels')).parts;
  await storeClicks(stores, [
    { workspaceId, tsNanos: START + 20n * NANOS_PER_DAY + 5n, channel: 'tiktok', linkId: links[0] ?? '' },
  ]);
  await rollUp(stores.clickhouse, CLOSED);
  const truth = await exact(span);
  for (let time = 0; time < 3; time++) expect(await estimated(span)).toEqual(truth);
  expect((await cachedRows('channels')).parts).toBe(before + 1);
});

test("a deleted bio button's history is in no report, cached or not", async () => {
  const span = await cachedWindow();
  await stores.clickhouse.insert({
    table: 'deleted_links',
    values: [{ workspace_id: workspaceId, link_id: links[0] }],
    format: 'JSONEachRow',
  });
  const window = { workspaceId, span, hasDeleted: true };
  const truth = await channelsReport(stores.clickhouse, window);
  expect(truth).not.toEqual(await exact(span));
  for (let time = 0; time < 3; time++) {
    expect(await channelsReport(stores.clickhouse, { ...window, exactUpTo: 0 })).toEqual(truth);
  }
  await stores.clickhouse.command({ query: 'TRUNCATE TABLE deleted_links' });
});

test('a cached cover is what is read', async () => {
  const span = await cachedWindow();
  const truth = await exact(span);
  await stores.clickhouse.command({ query: 'TRUNCATE TABLE clicks_rolled_up' });
  expect(await estimated(span)).toEqual(truth);
  await dropCached();
  expect(await estimated(span)).not.toEqual(truth);
});
