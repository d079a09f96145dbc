import { afterAll, beforeAll, expect, test } from 'vitest';
import { winnerOf } from '../../core/links/rules/winner.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { makeLink } from '../../test/support/ingest.ts';
import { storeClicks, storeShares } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { DECIDE_SPLITS_EVERY_MS, decideSplits, PATIENCE_MS } from './decide-splits.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

const SPLIT = ['a', 'b'].map((id) => ({ id, destination_url: `https://shop.example/${id}`, weight: 1 }));
const HOUR_AGO = Date.now() - 3_600_000;
const nanos = (millis: number) => BigInt(millis) * 1_000_000n;

/** Makes a link whose split has ended, with clicks and credited orders of its variants. */
async function endedSplit(
  reached: Record<string, { clicks: number; orders: number[] }>,
  columns: object = {},
) {
  const { id: workspaceId } = await createWorkspace(stores.pool, { name: 'Shop', plan: 'pro' });
  const { id } = await makeLink(stores.pool, workspaceId, 'https://shop.example/', {
    channel: 'newsletter',
    split: JSON.stringify(SPLIT),
    split_goal: 'conversions',
    split_ends_at: new Date(HOUR_AGO),
    ...columns,
  });
  await stores.pool.query("UPDATE links SET created_at = created_at - interval '1 day' WHERE id = $1", [id]);
  for (const [variant, { clicks, orders }] of Object.entries(reached)) {
    const at = (nth: number) => nanos(HOUR_AGO - 1_000_000) + BigInt(nth) * 1_000n;
    await storeClicks(
      stores,
      Array.from({ length: clicks }, (_, nth) => ({
        workspaceId,
        linkId: id,
        tsNanos: at(nth),
        columns: { variant_id: variant },
      })),
    );
    await storeShares(
      stores,
      orders.map((amountMinor, nth) => ({
        workspaceId,
        orderId: `${variant}-${nth}`,
        tsNanos: at(nth),
        parts: [
          { linkId: id, channel: 'newsletter', share: 1, amountMinor, columns: { variant_id: variant } },
        ],
      })),
    );
  }
  return { id, workspaceId };
}

async function winnerIn(id: string): Promise<string | null> {
  const { rows } = await stores.pool.query<{ split_winner: string | null }>(
    'SELECT split_winner FROM links WHERE id = $1',
    [id],
  );
  return rows[0]?.split_winner ?? null;
}

const logged: unknown[] = [];
const decide = () =>
  decideSplits({ ...stores, log: { info: (...entry: unknown[]) => logged.push(entry) } as never });

test('the variant with the most of the goal for each click wins, once, whichever worker is first', async () => {
  const reached = { a: { clicks: 200, orders: [900, 900] }, b: { clicks: 100, orders: [100, 100] } };
  const byOrders = await endedSplit(reached);
  const byRevenue = await endedSplit(reached, { split_goal: 'revenue' });
  const byLeads = await endedSplit(reached, { split_goal: 'leads' });
  const lead = { linkId: byLeads.id, channel: 'newsletter', share: 0, amountMinor: 0, lead: 1 };
  await storeShares(
    stores,
    ['a', 'a', 'a'].map((variant_id, nth) => ({
      workspaceId: byLeads.workspaceId,
      orderId: `lead-${nth}`,
      tsNanos: nanos(HOUR_AGO - 1_000),
      parts: [{ ...lead, columns: { variant_id } }],
    })),
  );
  logged.length = 0;
  await Promise.all([decide(), decide(), decide()]);
  expect(await Promise.all([byOrders, byRevenue, byLeads].map(({ id }) => winnerIn(id)))).toEqual([
    'b',
    'a',
    'a',
  ]);
  expect(logged).toHaveLength(3);
});

test.each(['leads', 'conversions'])('%s that are credited in fractions decide too', async (split_goal) => {
  const reached = { a: { clicks: 100, orders: [] }, b: { clicks: 100, orders: [] } };
  const { id, workspaceId } = await endedSplit(reached, { split_goal });
  const part = { linkId: id, channel: 'newsletter', amountMinor: 0 };
  await storeShares(
    stores,
    [
      ['a', 1 / 3],
      ['b', 0.5],
    ].map(([variant_id = '', share = 0]) => ({
      workspaceId,
      orderId: `part-${variant_id}`,
      tsNanos: nanos(HOUR_AGO - 1_000),
      parts: [{ ...part, share: Number(share), lead: Number(share), columns: { variant_id } }],
    })),
  );
  await decide();
  expect(await winnerIn(id)).toBe('b');
});

test('a split with a variant of fewer than 100 clicks goes to the first, and a later end is not decided', async () => {
  const few = await endedSplit({ a: { clicks: 100, orders: [] }, b: { clicks: 99, orders: [100] } });
  const later = await endedSplit(
    { a: { clicks: 100, orders: [] }, b: { clicks: 100, orders: [100] } },
    { split_ends_at: new Date(Date.now() + 3_600_000) },
  );
  await decide();
  expect([await winnerIn(few.id), await winnerIn(later.id)]).toEqual(['a', null]);
});

test('clicks and orders after the end do not count', async () => {
  const { id, workspaceId } = await endedSplit({
    a: { clicks: 100, orders: [100] },
    b: { clicks: 100, orders: [] },
  });
  await storeShares(
    stores,
    ['x', 'y'].map((orderId) => ({
      workspaceId,
      orderId,
      tsNanos: nanos(HOUR_AGO + 1_000),
      parts: [{ linkId: id, channel: 'newsletter', share: 1, amountMinor: 1, columns: { variant_id: 'b' } }],
    })),
  );
  await decide();
  expect(await winnerIn(id)).toBe('a');
});

/** How long visitors may wait for the winner after the end (docs/links.md). */
const PROMISED_MS = 10_000;

test('a late watermark is waited for, but not so long that the winner comes after 10 seconds', async () => {
  const stream = await registerStream(stores.pool, 'ingest-late');
  const untilSeen = (millis: number) =>
    advanceStreams(stores.pool, [{ ...stream, highWater: 0n, visibleBefore: millis * 1_000 }]);
  const reached = { a: { clicks: 100, orders: [] }, b: { clicks: 100, orders: [100] } };
  try {
    await untilSeen(HOUR_AGO - 1);
    const seenLater = await endedSplit(reached);
    const decideAt = (afterEnd: number) =>
      decideSplits({ ...stores, log: { info: () => {} } as never }, HOUR_AGO + afterEnd);
    await decideAt(PATIENCE_MS - 1);
    expect(await winnerIn(seenLater.id)).toBeNull();
    await untilSeen(HOUR_AGO);
    await decideAt(PATIENCE_MS - 1);
    expect(await winnerIn(seenLater.id)).toBe('b');

    const neverSeen = await endedSplit(reached, { split_ends_at: new Date(HOUR_AGO + 1) });
    await decideAt(PATIENCE_MS);
    expect(await winnerIn(neverSeen.id)).toBeNull();
    await decideAt(PATIENCE_MS + 1);
    expect(await winnerIn(neverSeen.id)).toBe('b');
  } finally {
    await stores.pool.query("UPDATE ingest_streams SET state = 'retired' WHERE stream_id = $1", [
      stream.streamId,
    ]);
  }
  // The job runs at most one interval later, and ingest needs a second for the query and the change.
  expect(PATIENCE_MS + DECIDE_SPLITS_EVERY_MS).toBeLessThanOrEqual(PROMISED_MS - 1_000);
});

test('of equal variants the first wins, and rates are compared exactly', () => {
  const result = (id: string, clicks: number, goal: number) => ({ id, clicks, goal: BigInt(goal) });
  expect(winnerOf([result('a', 100, 1), result('b', 300, 3), result('c', 200, 2)])).toBe('a');
  expect(winnerOf([result('a', 100, 0), result('b', 300, 3), result('c', 200, 2)])).toBe('b');
  expect(winnerOf([result('a', 3_000_000, 1), result('b', 2_999_999, 1)])).toBe('b');
  expect(winnerOf([result('a', 99, 0), result('b', 300, 3)])).toBe('a');
});
