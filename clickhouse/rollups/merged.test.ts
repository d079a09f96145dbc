import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { channelsReport } from '../queries/channels-report.ts';
import { linksReport } from '../queries/links-report.ts';
import { runQuery } from '../queries/run-query.ts';
import type { Span } from '../queries/visible-clicks.ts';
import { windowSize } from '../queries/window-size.ts';
import { workspaceStats } from '../queries/workspace-stats.ts';
import { mergingDone } from './asked-again.ts';
import { rollUp } from './roll-up.ts';

const START = parseInstant('2026-08-10') ?? 0n;
const DAYS = 60;
const CLOSED = '2026-10-08';
const HOUR = NANOS_PER_DAY / 24n;
/** From mid-day to mid-day: both edges are read click by click. */
const SPAN: Span = { from: START + 12n * HOUR, to: START + 58n * NANOS_PER_DAY + 12n * HOUR };
const CHANNELS = ['facebook', 'youtube', 'tiktok'];

let stores: TestStores;
const workspaceId = uuidv7();
const links = Array.from({ length: 6 }, () => uuidv7());
const visitors = Array.from({ length: 50 }, () => uuidv7());
const hourOf = (n: number) => START + BigInt(n % (DAYS * 24)) * HOUR + BigInt(n);
/** Each hour of the window has one; every ninth is a bot's. */
const given = Array.from({ length: DAYS * 24 }, (_, n) => ({
  workspaceId,
  tsNanos: hourOf(n),
  linkId: links[n % links.length] ?? '',
  visitorId: visitors[(n * 7) % visitors.length] ?? '',
  channel: CHANNELS[n % CHANNELS.length] ?? '',
  isBot: n % 9 === 0,
}));

beforeAll(async () => {
  stores = await testStores();
  await storeClicks(stores, given);
  await rollUp(stores.clickhouse, CLOSED);
});
afterAll(() => stores.close());

/** Counted from roll-ups, whatever there is; and what it began to merge is through. */
async function estimated(span = SPAN) {
  const channels = await channelsReport(stores.clickhouse, workspaceId, span, 0);
  await mergingDone();
  return channels;
}
const exact = (span = SPAN) => channelsReport(stores.clickhouse, workspaceId, span);
const peopleIn = ({ from, to }: Span) =>
  given.filter(({ tsNanos, isBot }) => !isBot && tsNanos >= from && tsNanos < to).length;

async function mergedRows(): Promise<{ covers: number; rows: number }> {
  const [row] = await runQuery<{ covers: string; rows: string }>(stores.clickhouse, {
    sql: `SELECT uniqExact(cover) AS covers, count() AS rows FROM merged_roll_ups
          WHERE workspace_id = {workspace:UUID}`,
    params: { workspace: workspaceId },
    seconds: 20,
  });
  return { covers: Number(row?.covers), rows: Number(row?.rows) };
}

test('a window is large when it has more clicks than asked about, wherever they are counted', async () => {
  const sizeOf = async (span: Span, upTo: number) =>
    (await windowSize(stores.clickhouse, { workspaceId, span, condition: '', params: {}, exactUpTo: upTo }))
      .largeCover !== null;
  const at = (day: number, hours: number) => START + BigInt(day) * NANOS_PER_DAY + BigInt(hours) * HOUR;
  const windows: Span[] = [
    SPAN,
    { from: at(3, 0), to: at(5, 0) }, // whole days
    { from: at(3, 5), to: at(3, 9) }, // within a day
    { from: at(3, 20), to: at(4, 4) }, // no whole day
    { from: at(50, 3), to: at(80, 0) }, // beyond the newest, with days that are not rolled up
    { from: at(-50, 0), to: at(90, 0) },
    { from: at(-9, 0), to: at(-7, 0) }, // empty
  ];
  for (const span of windows) {
    const people = peopleIn(span);
    for (const upTo of [0, people - 1, people, people + 1, 1_000_000]) {
      if (upTo >= 0) expect([span, upTo, await sizeOf(span, upTo)]).toEqual([span, upTo, people > upTo]);
    }
  }
});

test('what is counted beforehand for a workspace may be counted again', async () => {
  await stores.clickhouse.command({
    query: `INSERT INTO rolled_up_workspaces
            SELECT workspace_id, generation, sum(clicks) FROM clicks_rolled_up GROUP BY workspace_id, generation`,
  });
  const upTo = peopleIn(SPAN);
  const size = { workspaceId, span: SPAN, condition: '', params: {} };
  expect((await windowSize(stores.clickhouse, { ...size, exactUpTo: upTo })).largeCover).toBeNull();
  expect((await windowSize(stores.clickhouse, { ...size, exactUpTo: upTo - 1 })).largeCover).not.toBeNull();
});

test('a cover is merged when it is asked for again, and says the same', async () => {
  const truth = await exact();
  expect(await estimated()).toEqual(truth);
  expect(await mergedRows()).toEqual({ covers: 0, rows: 0 });
  expect(await estimated()).toEqual(truth);
  expect(await mergedRows()).toEqual({ covers: 1, rows: CHANNELS.length });
  expect(await estimated()).toEqual(truth);
  // The same whole days, other edges.
  const narrower: Span = { from: SPAN.from + HOUR, to: SPAN.to - 3n * HOUR };
  expect(await estimated(narrower)).toEqual(await exact(narrower));
  const [rolledUp, counted] = await Promise.all([
    workspaceStats(stores.clickhouse, workspaceId, SPAN, [], 0),
    workspaceStats(stores.clickhouse, workspaceId, SPAN, []),
  ]);
  expect(rolledUp).toEqual(counted);
  expect(await mergedRows()).toEqual({ covers: 1, rows: CHANNELS.length });
});

test('the store answers a scalar question once, however often it stands in a question', async () => {
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
  const top = (limit: number, exactUpTo?: number) =>
    linksReport(stores.clickhouse, workspaceId, SPAN, { kind: 'top', limit, offset: 0 }, exactUpTo);

  async function estimatedTop(limit: number) {
    const shown = await top(limit, 0);
    await mergingDone();
    return shown;
  }

  async function mergedLinks(): Promise<string[]> {
    const rows = await runQuery<{ link_id: string }>(stores.clickhouse, {
      sql: 'SELECT link_id FROM merged_link_roll_ups WHERE workspace_id = {workspace:UUID} ORDER BY toString(link_id)',
      params: { workspace: workspaceId },
      seconds: 20,
    });
    return rows.map(({ link_id }) => link_id);
  }

  /** Merged rows that say that each of some links had one visitor, made so many minutes ago. */
  const pretend = (linkIds: readonly string[], minutes: number) =>
    stores.clickhouse.command({
      query: `INSERT INTO merged_link_roll_ups
        SELECT workspace_id, cover, arrayJoin({links:Array(UUID)}) AS link_id, 1,
          uniqCombined64State(17)(generateUUIDv4()), now() - INTERVAL {minutes:UInt32} MINUTE
        FROM (SELECT DISTINCT workspace_id, cover FROM merged_roll_ups WHERE workspace_id = {workspace:UUID})
        GROUP BY workspace_id, cover, link_id`,
      query_params: { workspace: workspaceId, links: linkIds, minutes },
    });

  test('are merged when they are shown again, and only they', async () => {
    const truth = await top(3);
    expect(await estimatedTop(3)).toEqual(truth);
    expect(await mergedLinks()).toEqual([]);
    for (let time = 0; time < 2; time++) expect(await estimatedTop(3)).toEqual(truth);
    expect(await mergedLinks()).toEqual(truth.map(({ linkId }) => linkId).sort());
  });

  test('and others beside them are counted alike, and merged in their turn', async () => {
    const truth = await top(6);
    for (let time = 0; time < 3; time++) expect(await estimatedTop(6)).toEqual(truth);
    expect(await mergedLinks()).toEqual([...links].sort());
    const some = [links[1] ?? '', links[4] ?? ''];
    const chosen = (exactUpTo?: number) =>
      linksReport(stores.clickhouse, workspaceId, SPAN, { kind: 'ids', ids: some }, exactUpTo);
    expect(await chosen(0)).toEqual(await chosen());
  });

  test('are found in what was merged of all of them', async () => {
    const clicks = async () => (await estimatedTop(6)).map((row) => row.clicks);
    const truth = await clicks();
    expect(truth).toEqual((await top(6)).map((row) => row.clicks));
    const twice = 'INSERT INTO merged_link_clicks SELECT * FROM merged_link_clicks';
    await stores.clickhouse.command({ query: twice });
    expect(await clicks()).toEqual(truth);
    await stores.clickhouse.command({
      query: `INSERT INTO merged_link_clicks SELECT workspace_id, cover, link_id, clicks + 1000000, now() + 1
              FROM merged_link_clicks FINAL`,
    });
    expect(Math.min(...(await clicks()))).toBeGreaterThan(1_000_000);
    await stores.clickhouse.command({ query: 'TRUNCATE TABLE merged_link_clicks' });
    expect(await clicks()).toEqual(truth);
  });

  test('alone have their visitors counted', async () => {
    const [first, , third] = await top(6);
    const some = [first?.linkId, third?.linkId];
    const shown = async (exactUpTo?: number) => {
      const choice = { kind: 'top', limit: 6, offset: 0 } as const;
      const rows = await linksReport(stores.clickhouse, workspaceId, SPAN, choice, exactUpTo, {
        shown: async (all) => all.filter(({ linkId }) => some.includes(linkId)),
      });
      await mergingDone();
      return rows;
    };
    await stores.clickhouse.command({ query: 'TRUNCATE TABLE merged_link_roll_ups' });
    for (let time = 0; time < 3; time++) expect(await shown(0)).toEqual([first, third]);
    expect(await shown()).toEqual([first, third]);
    expect(await mergedLinks()).toEqual(some.sort());
  });

  test('are counted while it is asked which they are, and others afterwards', async () => {
    const truth = await top(6);
    const { rows } = stores.clickhouse.queries;
    const began: string[] = [];
    stores.clickhouse.queries.rows = async (asked) => {
      const kind = asked.sql.includes('conversions')
        ? 'links'
        : asked.sql.includes('visitors')
          ? 'visitors'
          : '';
      if (kind) began.push(kind);
      const answer = await rows(asked);
      if (kind === 'links') began.push('are known');
      return answer as never;
    };
    const shown = async (...places: number[]) => {
      began.length = 0;
      const choice = { kind: 'top', limit: 50, offset: 0 } as const;
      const some = places.map((place) => truth[place]?.linkId);
      const links = await linksReport(stores.clickhouse, workspaceId, SPAN, choice, 0, {
        shown: async (all) => all.filter(({ linkId }) => some.includes(linkId)),
      });
      expect(links).toEqual(places.map((place) => truth[place]));
      return began;
    };
    try {
      expect(await shown(0, 1, 4)).toEqual(['links', 'are known', 'visitors']);
      expect(await shown(0, 1, 4)).toEqual(['links', 'visitors', 'are known']);
      expect(await shown(1, 2, 3)).toEqual(['links', 'visitors', 'are known', 'visitors']);
      expect(await shown(1, 3)).toEqual(['links', 'visitors', 'are known']);
    } finally {
      stores.clickhouse.queries.rows = rows;
      await mergingDone();
    }
  });

  test('are read from there until what was merged is old', async () => {
    const truth = await top(6);
    const figures = async () => new Map((await estimatedTop(6)).map((row) => [row.linkId, row.visitors]));
    const counted = new Map(truth.map(({ linkId, visitors }) => [linkId, visitors]));
    const [first = '', ...rest] = links;
    await stores.clickhouse.command({ query: 'TRUNCATE TABLE merged_link_roll_ups' });
    await pretend([first], 1);
    const pretended = await figures();
    expect(pretended.get(first)).toBeLessThan(counted.get(first) ?? 0);
    for (const link of rest) expect([link, pretended.get(link)]).toEqual([link, counted.get(link)]);
    await stores.clickhouse.command({ query: 'TRUNCATE TABLE merged_link_roll_ups' });
    await pretend([first], 51);
    expect(await figures()).toEqual(counted);
  });
});

test('a cover that was merged twice counts once', async () => {
  const truth = await exact();
  await stores.clickhouse.command({
    query: `INSERT INTO merged_roll_ups (workspace_id, cover, channel, clicks, visitors)
            SELECT workspace_id, cover, channel, clicks, visitors FROM merged_roll_ups`,
  });
  expect((await mergedRows()).rows).toBe(2 * CHANNELS.length);
  expect(await estimated()).toEqual(truth);
});

test('a day that is made again makes another cover', async () => {
  await storeClicks(stores, [
    { workspaceId, tsNanos: START + 20n * NANOS_PER_DAY + 5n, channel: 'tiktok', linkId: links[0] ?? '' },
  ]);
  await rollUp(stores.clickhouse, CLOSED);
  const truth = await exact();
  for (let time = 0; time < 3; time++) expect(await estimated()).toEqual(truth);
  expect((await mergedRows()).covers).toBe(2);
});

test("a deleted bio button's history is in no report, merged or not", async () => {
  await stores.clickhouse.insert({
    table: 'deleted_links',
    values: [{ workspace_id: workspaceId, link_id: links[0] }],
    format: 'JSONEachRow',
  });
  const truth = await exact();
  for (let time = 0; time < 3; time++) expect(await estimated()).toEqual(truth);
  await stores.clickhouse.command({ query: 'TRUNCATE TABLE deleted_links' });
});

test('a merged cover is what is read', async () => {
  const truth = await exact();
  expect(await estimated()).toEqual(truth);
  await stores.clickhouse.command({ query: 'TRUNCATE TABLE clicks_rolled_up' });
  expect(await estimated()).toEqual(truth);
  await stores.clickhouse.command({ query: 'TRUNCATE TABLE merged_roll_ups' });
  expect(await estimated()).not.toEqual(truth);
});
