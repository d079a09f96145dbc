import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  isCurrent,
  makeLink,
  makeWorkspace,
  slugsHeld,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import { visit } from '../../test/support/visitors.ts';

const REFERRALS = 20;

let stores: TestStores;
let ingest: TestIngest;
let referrals: Awaited<ReturnType<typeof makeLink>>[];

beforeAll(async () => {
  stores = await testStores();
  const { id } = await makeWorkspace(stores.pool);
  const make = (channel: string) => makeLink(stores.pool, id, 'https://example.com/one', { channel });
  await make('email');
  referrals = await Promise.all(Array.from({ length: REFERRALS }, () => make('referral')));
  ingest = await startTestIngest(stores);
  await until('a current link table', () => isCurrent(ingest));
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const referral = (index: number) => referrals[index] ?? { id: '', slug: '', destinationId: '' };
const pathOf = async (index: number) =>
  (await visit(`${ingest.url}/${referral(index).slug}`)).location?.pathname;

/** Moves links in one transaction, whose changes arrive together. */
async function move(indices: number[], path: string): Promise<void> {
  await stores.pool.query('UPDATE destinations SET destination_url = $2 WHERE id = ANY ($1)', [
    indices.map((index) => referral(index).destinationId),
    `https://example.com${path}`,
  ]);
}

test('a referral link enters memory at its first visit, and follows its changes before and after', async () => {
  expect(await slugsHeld(ingest)).toBe(1);
  expect(await pathOf(0)).toBe('/one');
  expect(await slugsHeld(ingest)).toBe(2);
  await move([0, 1], '/two');
  await expect.poll(() => pathOf(0)).toBe('/two');
  expect(await pathOf(1)).toBe('/two');
  expect(await slugsHeld(ingest)).toBe(3);
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = ANY ($1)', [
    [referral(0).id, referral(2).id],
  ]);
  await expect.poll(() => pathOf(0)).toBeUndefined();
  expect(await pathOf(2)).toBeUndefined();
});

test('with PostgreSQL down a new start redirects the ones never visited, and holds only those it redirected', async () => {
  await ingest.close();
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
  ingest = await startTestIngest({ dataDir: ingest.dataDir, databaseUrl, pool: stores.pool });
  expect(await slugsHeld(ingest)).toBe(1);
  expect(await pathOf(3)).toBe('/one');
  expect(await pathOf(1)).toBe('/two');
  expect(await slugsHeld(ingest)).toBe(3);
  expect((await visit(`${ingest.url}/never-made`)).status).toBe(503);
});
