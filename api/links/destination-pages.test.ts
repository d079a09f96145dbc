import { expect } from 'vitest';
import { storeDestinationPage } from '../../sql/links/destination-pages.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import { plainPng } from '../../test/support/scanned-images.ts';
import type { LinkRecord } from './schemas.ts';

type Pages = { pages: { link_id: string; title: string | null; icon_id: string | null }[]; pending: boolean };

test('a member gets what was fetched, and the rest is requested', async ({ api, shop }) => {
  const { pool } = api.stores;
  const url = 'https://shop.example/autumn';
  const { body } = await shop.post<{ links: LinkRecord[] }>('/links', {
    destination_url: url,
    name: 'Autumn',
    channels: ['facebook', 'reddit'],
  });
  // A create requests nothing: it must not wait, and no one may look.
  expect((await pool.query('SELECT FROM destination_pages')).rowCount).toBe(0);
  const member = await signedInAs(api, shop, 'analyst');
  const ids = body.links.map(({ id }) => id).toSorted();
  const list = async () => (await member.call<Pages>('GET', `/links/destination-pages?ids=${ids}`)).body;
  expect(await list()).toEqual({ pages: [], pending: true });
  expect((await pool.query('SELECT url FROM destination_pages')).rows).toEqual([{ url }]);

  const image = plainPng(16, 16, [0, 0, 0, 255]);
  const due = { workspaceId: shop.workspace.id, url };
  await storeDestinationPage(pool, due, { title: 'Autumn sale', icon: { type: 'image/png', image } });
  const found = await list();
  const page = { title: 'Autumn sale', icon_id: expect.any(String) };
  expect(found).toEqual({
    pages: expect.arrayContaining(ids.map((link_id) => ({ link_id, ...page }))),
    pending: false,
  });
  const icon = await member.call('GET', `/links/destination-icons/${found.pages[0]?.icon_id}`);
  expect([icon.status, icon.headers]).toMatchObject([
    200,
    {
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-length': String(image.length),
    },
  ]);

  api.deps.config.fetchDestinations = 'off';
  expect(await list()).toEqual({ pages: [], pending: false });
  api.deps.config.fetchDestinations = 'public';
});
