import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TimeUnit } from '../../../core/analytics/dimensions.ts';
import { uuidv7 } from '../../../core/ids.ts';
import { bucketStarts } from '../../../core/time/time-buckets.ts';
import { NANOS_PER_DAY, parseInstant } from '../../../core/time/timestamps.ts';
import { NO_UUID, storeClicks } from '../../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../../test/support/stores.ts';
import { hideLinks } from '../../erasures.ts';
import type { Condition } from '../../queries/click-conditions.ts';
import { rollUp } from '../../rollups/roll-up.ts';
import type { Key } from './keys.ts';
import { analyticsRows, type Counted, figuresOfRows } from './query.ts';

/** Queries that roll-ups answer equal those that read clicks. Sets this small are exact in both. */

const START = parseInstant('2026-07-20') ?? 0n;
const DAYS = 75;
const HOUR = NANOS_PER_DAY / 24n;
/** From midday to midday, with whole months within. The last days are not rolled up. */
const SPAN = { from: START + 12n * HOUR, to: START + BigInt(DAYS) * NANOS_PER_DAY - 12n * HOUR };
const CLOSED = '2026-10-01';

let stores: TestStores;
const workspaceId = uuidv7();
const links = Array.from({ length: 5 }, () => uuidv7());
const visitors = Array.from({ length: 40 }, () => uuidv7());
const CHANNELS = ['facebook', 'youtube', 'tiktok'];

beforeAll(async () => {
  stores = await testStores();
  await storeClicks(
    stores,
    Array.from({ length: DAYS * 12 }, (_, n) => ({
      workspaceId,
      tsNanos: START + 2n * BigInt(n) * HOUR + BigInt(n),
      // Every eleventh visit led to no link.
      linkId: n % 11 === 0 ? NO_UUID : (links[n % links.length] ?? ''),
      visitorId: visitors[(n * 7) % visitors.length] ?? '',
      channel: CHANNELS[n % CHANNELS.length] ?? '',
      isBot: n % 9 === 0,
    })),
  );
  await rollUp(stores.clickhouse, CLOSED);
  // Rolled up twice: the rows of a replaced period stay for an hour.
  await stores.clickhouse.command({
    query: 'INSERT INTO rolled_up_workspaces SELECT * FROM rolled_up_workspaces',
  });
});
afterAll(() => stores.close());

const BUCKET: Key = { kind: 'bucket' };
const CHANNEL: Key = { kind: 'text', dimension: 'channel' };
const FACEBOOK: Condition = { kind: 'text', dimension: 'channel', operator: 'is', values: ['facebook'] };

const QUERIES: [name: string, keys: Key[], unit: TimeUnit | null, conditions: Condition[]][] = [
  ['in all', [], null, []],
  ['by month', [BUCKET], 'month', []],
  ['by week', [BUCKET], 'week', []],
  ['by day', [BUCKET], 'day', []],
  ['by channel', [CHANNEL], null, []],
  ['by link', [{ kind: 'link' }], null, []],
  ['by month and channel', [BUCKET, CHANNEL], 'month', []],
  ['by month, of a channel', [BUCKET], 'month', [FACEBOOK]],
];

async function both({ hasDeleted = false, zone = 'UTC' } = {}): Promise<void> {
  for (const [name, keys, unit, conditions] of QUERIES) {
    const starts = unit === null ? [] : (bucketStarts(SPAN, unit, zone, 1_000) ?? []);
    const [exact, estimated] = await Promise.all(
      [1_000_000, 0].map(async (exactUpTo) => {
        const counted: Counted = {
          window: { workspaceId, span: SPAN, hasDeleted, exactUpTo },
          metrics: ['clicks', 'visitors'],
          keys,
          starts,
          timeZone: zone,
          conditions,
          bots: 'exclude',
          orphans: 'exclude',
        };
        const page = { order: [{ by: 'clicks', isDescending: true }], limit: 500, offset: 0 } as const;
        const rows = await analyticsRows(stores.clickhouse, counted, page);
        const only = rows.rows.slice(0, 3).map((row) => row.keys);
        return { name, rows, some: await figuresOfRows(stores.clickhouse, counted, only) };
      }),
    );
    expect(exact?.rows.totals.clicks).toBeGreaterThan(100);
    expect(exact?.some.totals).toEqual(exact?.rows.totals);
    expect(estimated).toEqual(exact);
  }
}

test('queries of roll-ups equal those of clicks', () => both());

test('so do they in buckets that no UTC day fits into', () => both({ zone: 'Asia/Kolkata' }));

test('a deleted link is in neither', async () => {
  await hideLinks(stores.clickhouse, [{ workspaceId, targetId: links[0] ?? '' }]);
  await both({ hasDeleted: true });
});
