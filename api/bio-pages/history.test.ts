import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { openErasures } from '../../sql/erasure/erasures.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { addClicks, bioPage, changeBioPage, makeBioPage, trackedLinks } from '../../test/support/bio.ts';
import { makeDomain } from '../../test/support/domains.ts';
import { storeShares } from '../../test/support/stored-events.ts';
import type { LinkRecord } from '../links/schemas.ts';
import type { Stats } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const unreachable = createClickHouse({ url: 'http://127.0.0.1:1', database: 'none' });

describe('the history', () => {
  const clicksIn = async (path: string) => (await shop.get(path)).text;

  test.each([
    ['a removed button', () => shop.patch('/bio-pages/history', { links: [] })],
    ['a deleted page', () => shop.delete('/bio-pages/history')],
  ])(
    'of %s leaves every answer at once, and its removal from the store has been asked for',
    async (_, remove) => {
      const page = await makeBioPage(shop, 'history', {
        links: [{ id: 'a', label: 'A', url: 'https://a.example' }],
      });
      const id = trackedLinks(page).a ?? '';
      const visitor = crypto.randomUUID();
      await addClicks(api, shop.workspace.id, id, [{ visitor }, { visitor }]);
      for (const path of ['/clicks', '/links', `/clicks/export?format=ndjson`]) {
        expect(await clicksIn(path)).toContain(id);
      }
      expect((await shop.get(`/visitors/${visitor}/journey`)).status).toBe(200);
      expect((await remove()).status).toBe(200);
      for (const path of [
        '/clicks',
        '/links',
        '/links?view=records',
        `/clicks/export?format=ndjson`,
        '/channels',
      ]) {
        expect(await clicksIn(path)).not.toContain(id);
      }
      expect((await shop.get(`/visitors/${visitor}/journey`)).status).toBe(404);
      const { body } = await shop.get<{ channels: { channel: string }[] }>('/channels');
      expect(body.channels.filter((row) => row.channel === 'bio')).toEqual([]);
      const asked = await openErasures(api.stores.pool, 1_000);
      expect(asked).toContainEqual(expect.objectContaining({ kind: 'link', targetId: id }));
      await shop.delete('/bio-pages/history');
    },
  );

  test('of a button that only changed stays', async () => {
    const page = await makeBioPage(shop, 'stays', {
      links: [{ id: 'a', label: 'A', url: 'https://a.example' }],
    });
    const id = trackedLinks(page).a ?? '';
    await addClicks(api, shop.workspace.id, id, [{}]);
    await changeBioPage(shop, 'stays', { links: [{ id: 'a', label: 'B', url: 'https://b.example' }] });
    expect(await clicksIn('/clicks')).toContain(id);
  });

  test('a removal is saved with ClickHouse down, too', async () => {
    const down = await testApi(() => ({ clickhouse: unreachable }));
    const other = await down.addWorkspace();
    await makeBioPage(other, 'store-down');
    expect((await changeBioPage(other, 'store-down', { links: [] })).links).toEqual([]);
    expect((await openErasures(down.stores.pool, 10)).length).toBe(3);
    await down.close();
  });
});

describe('a button that loses its short link', () => {
  const url = 'https://shop.example/k';
  const button = { id: 'k', label: 'K', url };
  /** Leads to the short-link origin, to which no short link may lead. */
  const untracked = { ...button, url: 'https://hop.example/ada' };
  let own: TestWorkspace;
  let slug: string;
  let old: string;
  const visitor = crypto.randomUUID();

  beforeEach(async () => {
    own = await api.addWorkspace();
    slug = `losing-${own.workspace.id.slice(-8)}`;
    old = trackedLinks(await makeBioPage(own, slug, { links: [button] })).k ?? '';
    await addClicks(api, own.workspace.id, old, [{ visitor }, { is_bot: true }]);
  });

  const save = async (...links: object[]) => (await changeBioPage(own, slug, { links })).links[0];
  const stats = async () => (await own.get<Stats>(`/bio-pages/${slug}/stats`)).body;
  const record = async (id: string | null | undefined) => own.get<LinkRecord>(`/links/${id}`);

  /** Expects that every response lacks the links, and that their erasure from ClickHouse is requested. */
  async function expectErased(...ids: string[]): Promise<void> {
    const asked = await openErasures(api.stores.pool, 1_000);
    for (const id of ids) {
      expect(asked).toContainEqual(expect.objectContaining({ kind: 'link', targetId: id }));
      expect((await own.get(`/clicks?link_id=${id}`)).body).toMatchObject({ clicks: [] });
      expect((await record(id)).status).toBe(404);
    }
    expect((await own.get('/channels')).body).toMatchObject({ channels: [] });
    expect((await own.get(`/visitors/${visitor}/journey`)).status).toBe(404);
  }

  test('has the same one back when its URL moves to the short-link origin and back, with its figures all the time', async () => {
    const before = (await bioPage(own, slug)).links[0];
    expect(await save(untracked)).toMatchObject({ tracked_link_id: null, short_url: null });
    expect((await record(old)).status).toBe(404);
    expect((await stats()).links).toMatchObject([{ tracked_link_id: null, clicks: 1, visitors: 1 }]);
    expect((await stats()).totals).toMatchObject({ clicks: 1, visitors: 1 });
    expect(await save(button)).toEqual(before);
    expect((await stats()).links).toMatchObject([{ tracked_link_id: old, clicks: 1, visitors: 1 }]);
    expect((await record(old)).body).toMatchObject({ destination: url, name: 'K' });
    expect((await openErasures(api.stores.pool, 1_000)).map(({ targetId }) => targetId)).not.toContain(old);
  });

  test('gets another one when its domain was lost to another workspace meanwhile', async () => {
    const { id, domain } = await makeDomain(api.stores.pool, own.workspace.id, `${slug}.example`);
    expect((await own.patch(`/links/${old}`, { domain })).status).toBe(200);
    await save(untracked);
    await api.stores.pool.query(`UPDATE domains SET status = 'pending', verified_at = NULL WHERE id = $1`, [
      id,
    ]);
    const back = await save(button);
    expect(back?.short_url).toMatch(/^https:\/\/hop\.example\//);
    expect(back?.tracked_link_id).not.toBe(old);
  });

  test('has it back as the button is by then, with the settings that the link had', async () => {
    const settings = { slug: 'Kept-Slug', external_id: 'ext', max_clicks: 9 };
    await own.patch(`/links/${old}`, { ...settings, name: 'Named by hand' });
    await save(untracked);
    await save({ ...button, url: 'https://third.example/' });
    const moved = { ...settings, name: 'Named by hand', destination: 'https://third.example/' };
    expect((await record(old)).body).toMatchObject(moved);
    await save(untracked);
    await save({ ...untracked, label: 'Renamed' });
    await save({ ...button, label: 'Renamed' });
    expect((await record(old)).body).toMatchObject({ ...settings, name: 'Renamed', destination: url });
  });

  test('has it back without its external_id when that is another link’s by then', async () => {
    await own.patch(`/links/${old}`, { external_id: 'ext' });
    await save(untracked);
    const other = { destination_url: 'https://shop.example/', name: 'Other', external_id: 'ext' };
    expect((await own.post('/links', { ...other, channels: ['youtube'] })).status).toBe(201);
    expect(await save(button)).toMatchObject({ tracked_link_id: old });
    expect((await record(old)).body).toMatchObject({ external_id: null });
  });

  test('gives up its place under the cap meanwhile, and has the link back once there is room', async () => {
    await api.stores.pool.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [own.workspace.id]);
    await save(untracked);
    const others = Array.from({ length: 25 }, (_, n) => ({ id: `b${n}`, label: 'B', url }));
    await save(untracked, ...others);
    expect(await save(button, ...others)).toMatchObject({ tracked_link_id: null });
    expect(await save(button, ...others.slice(1))).toMatchObject({ tracked_link_id: old });
  });

  test('by DELETE /links/:id gets another, and the figures of both are its own', async () => {
    await own.delete(`/links/${old}`);
    expect((await stats()).links).toMatchObject([{ tracked_link_id: null, clicks: 1, visitors: 1 }]);
    const made = (await changeBioPage(own, slug, {})).links[0]?.tracked_link_id ?? '';
    expect(made).not.toBe(old);
    await save(untracked);
    expect(await save(button)).toMatchObject({ tracked_link_id: made });
    expect((await record(old)).status).toBe(404);
    await addClicks(api, own.workspace.id, made, [{ visitor }, {}, { is_bot: true }]);
    await storeShares(api.stores, [creditOf(old, 1_000), creditOf(made, 999)]);
    const both = { clicks: 3, visitors: 2, leads: 0, conversions: 2, revenue: 19.99 };
    expect((await stats()).links).toMatchObject([{ tracked_link_id: made, ...both }]);
    expect((await stats()).totals).toEqual(both);
  });

  describe('takes the history of all its links with it', () => {
    const remove = {
      'when it is removed': () => save(),
      'when it becomes a heading': () => save({ id: 'k', type: 'section', label: 'K' }),
      'when its page is deleted': () => own.delete(`/bio-pages/${slug}`),
    };
    const lose = {
      'set aside': () => save(untracked),
      'set aside and back': async () => [await save(untracked), await save(button)],
      deleted: () => own.delete(`/links/${old}`),
      'deleted, with another in its place': async () => [
        await own.delete(`/links/${old}`),
        await save(button),
      ],
    };
    const cases = Object.entries(remove).flatMap(([when, removal]) =>
      Object.entries(lose).map(([how, loss]) => ({ when, how, removal, loss })),
    );
    test.each(cases)('$when, the link being $how', async ({ removal, loss }) => {
      await loss();
      const last = trackedLinks(await bioPage(own, slug)).k;
      if (last && last !== old) await addClicks(api, own.workspace.id, last, [{ visitor }]);
      expect((await own.get(`/clicks?link_id=${old}`)).text).toContain(old);
      await removal();
      await expectErased(old, ...(last ? [last] : []));
    });

    test('and gets none of them back under the same id', async () => {
      await save(untracked);
      await save();
      const again = await save(button);
      expect(again?.tracked_link_id).toEqual(expect.any(String));
      expect(again?.tracked_link_id).not.toBe(old);
      expect((await stats()).totals).toMatchObject({ clicks: 0, visitors: 0 });
    });

    test('and leaves the history of other buttons alone', async () => {
      const other = { ...button, id: 'other' };
      await save(button, other);
      const { other: id } = trackedLinks(await bioPage(own, slug));
      await addClicks(api, own.workspace.id, id ?? '', [{}]);
      await save({ ...untracked, id: 'other' }, untracked);
      await save({ ...untracked, id: 'other' });
      expect((await stats()).links).toMatchObject([{ id: 'other', clicks: 1 }]);
    });
  });

  test('is never left with two by saves at once', async () => {
    await save(untracked);
    await Promise.all(Array.from({ length: 6 }, (_, n) => save(n % 2 ? untracked : button)));
    expect(await save(button)).toMatchObject({ tracked_link_id: old });
    const { body } = await own.get<{ links: LinkRecord[] }>('/links?view=records');
    expect(body.links.map((link) => link.id)).toEqual([old]);
  });

  const creditOf = (linkId: string, amountMinor: number) => ({
    workspaceId: own.workspace.id,
    parts: [{ linkId, channel: 'bio', share: 1, amountMinor }],
  });
});
