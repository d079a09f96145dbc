import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../sql/database/migrate.ts';
import { openErasures } from '../../sql/erasure/erasures.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { addClicks, changeBioPage, makeBioPage, trackedLinks } from '../../test/support/bio.ts';
import type { Stats } from './schemas.ts';

const MIGRATION = '0084_bio_button_links.sql';

let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const A = { id: 'a', label: 'A', url: 'https://a.example' };
const B = { id: 'b', label: 'B', url: 'https://b.example' };
const clicksOf = async (page: string) => (await shop.get<Stats>(`/bio-pages/${page}/stats`)).body.links;
const erasures = async () => (await openErasures(api.stores.pool, 1_000)).map(({ targetId }) => targetId);
const query = (sql: string, values: unknown[] = []) => api.stores.pool.query(sql, values);

/** A page with a click on each of two buttons. */
async function clickedPage(slug: string): Promise<{ a: string; b: string }> {
  const { a, b } = trackedLinks(await makeBioPage(shop, slug, { links: [A, B] }));
  if (!a || !b) throw new Error('no short links');
  for (const id of [a, b]) await addClicks(api, shop.workspace.id, id, [{}]);
  return { a, b };
}

/** Takes a button's link away as the release before did: nothing says any more whose it was. */
async function lose(linkId: string): Promise<void> {
  await query('UPDATE links SET deleted_at = now() WHERE id = $1', [linkId]);
  await query('UPDATE bio_buttons SET link_id = NULL WHERE link_id = $1', [linkId]);
}

test('an upgrade finds the links that buttons had: they count, and go with button or page', async () => {
  const tracked = await clickedPage('tracked');
  const deleted = await clickedPage('deleted');
  await query('UPDATE links SET deleted_at = now() WHERE id = $1', [deleted.a]);
  const lost = await clickedPage('lost');
  await lose(lost.a);
  const unknown = await clickedPage('unknown');
  await query(`UPDATE bio_buttons SET label = 'Other', url = 'https://other.example' WHERE link_id = $1`, [
    unknown.a,
  ]);
  await lose(unknown.a);
  const gone = await clickedPage('gone');
  await lose(gone.a);
  await query(`DELETE FROM bio_pages WHERE slug = 'gone'`);
  // Its second button's link stands in for one that `utm_campaign` no longer names a page of: it is left as it is.
  await query(`UPDATE links SET deleted_at = now(), utm_campaign = 'by-hand' WHERE id = $1`, [gone.b]);
  const former = await clickedPage('former');
  await lose(former.a);
  await query(`DELETE FROM bio_pages WHERE slug = 'former'`);
  await makeBioPage(shop, 'former', { links: [A] });

  await query('DROP TABLE bio_button_links');
  await query('DROP FUNCTION keep_bio_button_link CASCADE');
  await query('DELETE FROM migrations WHERE name = $1', [MIGRATION]);
  expect(await migrate(api.stores.pool)).toEqual([MIGRATION]);

  expect(await clicksOf('tracked')).toMatchObject([{ clicks: 1 }, { clicks: 1 }]);
  expect(await clicksOf('deleted')).toMatchObject([{ clicks: 1, tracked_link_id: null }, { clicks: 1 }]);
  expect(await clicksOf('lost')).toMatchObject([{ clicks: 1, tracked_link_id: null }, { clicks: 1 }]);
  expect(await clicksOf('unknown')).toMatchObject([{ clicks: 0 }, { clicks: 1 }]);
  expect(await clicksOf('former')).toMatchObject([{ clicks: 0 }]);
  // Their pages are gone, so their history goes at once.
  expect((await erasures()).toSorted()).toEqual([gone.a, former.a].toSorted());

  // Deleted by whom is not known, so that no old link comes back.
  const again = trackedLinks(await changeBioPage(shop, 'lost', { title: 'Saved' }));
  expect(again.a).not.toBe(lost.a);
  expect(again.b).toBe(lost.b);
  for (const page of ['tracked', 'deleted', 'lost']) await changeBioPage(shop, page, { links: [B] });
  await changeBioPage(shop, 'unknown', { links: [B] });
  expect(await erasures()).toEqual(expect.arrayContaining([tracked.a, deleted.a, lost.a]));
  expect(await erasures()).not.toContain(unknown.a);
  await shop.delete('/bio-pages/unknown');
  expect(await erasures()).toContain(unknown.a);
  for (const id of [tracked.a, deleted.a, lost.a, unknown.a]) {
    expect((await shop.get(`/clicks?link_id=${id}`)).body).toMatchObject({ clicks: [] });
  }
});
