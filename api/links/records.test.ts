import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import type { LinkRecord } from './schemas.ts';

type Created = { destination_id: string; links: LinkRecord[] };
type Page = { links: LinkRecord[]; next_cursor: string | null };

let api: TestApi;
let shop: TestWorkspace;
const made: LinkRecord[] = [];

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace({ plan: 'free', plan_status: 'active' });
  await api.stores.pool.query(`UPDATE workspaces SET plan = 'unlimited' WHERE id = $1`, [shop.workspace.id]);
  for (const more of [
    { channels: ['x', 'reddit', 'slack'], slug: 'Launch_2026' },
    { channel: 'x', external_id: 'ext%1' },
    { smart: true, external_id: 'EXT%1' },
    { channels: ['newsletter', 'website', 'other', 'threads'] },
  ]) {
    const { body } = await shop.post<Created>('/links', {
      destination_url: 'https://shop.example',
      name: 'N',
      ...more,
    });
    made.push(...body.links);
  }
});
afterAll(() => api.close());

const records = (query: string) => shop.get<Page>(`/links?view=records${query}`);
const newestFirst = () => made.map((link) => link.id).toReversed();
const idsOf = (page: Page) => page.links.map((link) => link.id);

test('records come newest first, whole, on any plan', async () => {
  const { body } = await records('');
  expect(body.links).toEqual(made.toReversed());
  expect(body.next_cursor).toBeNull();
  await api.stores.pool.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [shop.workspace.id]);
  expect((await records('')).status).toBe(200);
  expect((await shop.get('/links')).body.error.code).toBe('payment_required');
  await api.stores.pool.query(`UPDATE workspaces SET plan = 'unlimited' WHERE id = $1`, [shop.workspace.id]);
});

describe('a walk', () => {
  test.each([1, 2, 3, 9, 10])('in pages of %i gives every link once', async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: Page } = await records(
        `&limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      );
      expect(body.links.length).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(body));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(newestFirst());
  });

  test('is not disturbed by concurrent creates', async () => {
    const other = await api.addWorkspace();
    const create = async (count: number) => {
      const bodies = Array.from({ length: count }, () => ({
        destination_url: 'https://shop.example',
        name: 'N',
        channel: 'slack',
      }));
      await Promise.all(bodies.map((body) => other.post('/links', body)));
    };
    await create(40);
    const all = (await other.get<Page>('/links?view=records')).body.links.map((link) => link.id);
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const [{ body }] = await Promise.all([
        other.get<Page>(`/links?view=records&limit=7${cursor}`),
        create(3),
      ]);
      seen.push(...idsOf(body));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(all.every((id) => seen.includes(id))).toBe(true);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('takes a cursor with any number of digits', async () => {
    const third = made.at(-3)?.created_at ?? '';
    const finer = third.replace('Z', '001Z');
    expect(idsOf((await records(`&cursor=${third}`)).body)).toEqual(newestFirst().slice(3));
    expect(idsOf((await records(`&cursor=${finer}`)).body)).toEqual(newestFirst().slice(2));
    expect(idsOf((await records('&cursor=2020-01-01')).body)).toEqual([]);
    expect(idsOf((await records('&cursor=0000-01-01')).body)).toEqual([]);
    expect(idsOf((await records('&cursor=9999-12-31')).body)).toEqual(newestFirst());
  });
});

describe('filters', () => {
  test('channel, with x for twitter', async () => {
    const twitter = made.filter((link) => link.channel === 'twitter').map((link) => link.id);
    expect(idsOf((await records('&channel=twitter')).body)).toEqual(twitter.toReversed());
    expect(idsOf((await records('&channel=x')).body)).toEqual(twitter.toReversed());
    expect((await records('&channel=bio')).body.links).toEqual([]);
  });

  test('campaign', async () => {
    const [first] = made;
    expect(idsOf((await records(`&destination_id=${first?.destination_id}`)).body)).toEqual(
      made
        .slice(0, 3)
        .map((link) => link.id)
        .toReversed(),
    );
  });

  test('part of the slug, in any case of letters, with nothing read as a wildcard', async () => {
    expect((await records('&slug=launch_2026-')).body.links).toHaveLength(3);
    expect((await records('&slug=LAUNCH')).body.links).toHaveLength(3);
    expect((await records('&slug=h%252')).body.links).toEqual([]);
    expect((await records('&slug=launch%25')).body.links).toEqual([]);
    expect((await records('&slug=%25')).body.links).toEqual([]);
    expect((await records('&slug=launch_2026_')).body.links).toEqual([]);
  });

  test('external_id, exactly', async () => {
    expect(idsOf((await records('&external_id=ext%251')).body)).toEqual([made[3]?.id]);
    expect((await records('&external_id=ext')).body.links).toEqual([]);
  });

  test('ids, exactly these and all of them, on any plan', async () => {
    const [first, second] = made;
    const asked = `&ids=${first?.id.toUpperCase()},${second?.id},00000000-0000-7000-8000-000000000000`;
    await api.stores.pool.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [shop.workspace.id]);
    expect((await records(`${asked}&limit=1`)).body).toEqual({ links: [second, first], next_cursor: null });
    await api.stores.pool.query(`UPDATE workspaces SET plan = 'unlimited' WHERE id = $1`, [
      shop.workspace.id,
    ]);
    expect(idsOf((await records(`${asked}&channel=x`)).body)).toEqual([first?.id]);
  });

  test('together, with the cursor', async () => {
    const { body } = await records('&channel=x&slug=launch&limit=1');
    expect(idsOf(body)).toEqual([made[0]?.id]);
    expect(body.next_cursor).toBeNull();
  });
});

test.each([
  ['limit', '0'],
  ['limit', '501'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', '1e2'],
  ['limit', '0x10'],
  ['limit', ''],
  ['limit', 'ten'],
  ['limit', '99999999999999999999'],
  ['limit', '5&limit=6'],
  ['cursor', 'yesterday'],
  ['cursor', ''],
  ['channel', 'myspace'],
  ['destination_id', 'abc'],
  ['slug', ''],
  ['external_id', ''],
  ['ids', ''],
  ['ids', 'abc'],
  ['external_id', 'x'.repeat(201)],
  ['days', '7'],
  ['from', '2026-11-20'],
  ['to', '2026-11-20'],
  ['include', 'settings'],
])('%s=%s is 400 and names the parameter', async (name, value) => {
  const answer = await shop.get(`/links?view=records&${name}=${value}`);
  expect([answer.status, answer.body.error.details?.[0]?.path.split('.')[0]]).toEqual([400, name]);
});

test('an unknown view is 400', async () => {
  const answer = await shop.get('/links?view=everything');
  expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'view']);
});

test("another workspace's links are never returned", async () => {
  const other = await api.addWorkspace();
  expect((await other.get<Page>('/links?view=records')).body).toEqual({ links: [], next_cursor: null });
  const theirs = await other.get<Page>(`/links?view=records&destination_id=${made[0]?.destination_id}`);
  expect(theirs.body.links).toEqual([]);
  expect((await other.get<Page>(`/links?view=records&ids=${made[0]?.id}`)).body.links).toEqual([]);
});
