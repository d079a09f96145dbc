import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { makeBioPage } from '../../test/support/bio.ts';
import { sharedShopTest } from '../../test/support/fixtures.ts';

describe('GET /bio-pages/availability', () => {
  const check = (shop: TestWorkspace, slug: string, workspace = shop) =>
    workspace.get(`/bio-pages/availability?slug=${encodeURIComponent(slug)}`);

  sharedShopTest.for([
    ['Brand New', 'brand-new', true, null],
    ['x', 'x', false, 'invalid'],
    ['a b_c', 'a-b_c', false, 'invalid'],
    ['Admin', 'admin', false, 'reserved'],
    ['Avail Page', 'avail-page', false, 'taken'],
    ['avail-link', 'avail-link', false, 'taken'],
  ] as const)('%s', async ([asked, slug, available, reason], { shop }) => {
    await shop.post('/bio-pages', { slug: 'avail-page' });
    const link = { destination_url: 'https://shop.example', name: 'N', channel: 'x', slug: 'Avail-Link' };
    await shop.post('/links', link);
    expect((await check(shop, asked)).body).toEqual({ slug, available, reason });
  });

  sharedShopTest('without a slug: 400', async ({ shop }) => {
    const answer = await shop.get('/bio-pages/availability');
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: { code: 'bad_request', details: [{ path: 'slug', message: 'is required' }] } },
    ]);
  });

  sharedShopTest('without a slug it is the page of that name, where there is one', async ({ api, shop }) => {
    const page = await makeBioPage(shop, 'availability');
    expect((await shop.get('/bio-pages/availability')).body).toEqual(page);
    expect((await check(shop, 'availability')).body).toMatchObject({ reason: 'taken' });
    const other = await api.addWorkspace();
    expect((await other.get('/bio-pages/availability')).status).toBe(400);
    expect((await shop.patch('/bio-pages/availability', { title: 'Hours' })).status).toBe(200);
    expect((await shop.delete('/bio-pages/availability')).status).toBe(200);
  });

  sharedShopTest(
    'the slug of a deleted page is free for its workspace and no other',
    async ({ api, shop }) => {
      await makeBioPage(shop, 'deleted-one');
      await shop.delete('/bio-pages/deleted-one');
      const other = await api.addWorkspace();
      expect((await check(shop, 'deleted-one', other)).body).toMatchObject({
        available: false,
        reason: 'taken',
      });
      expect((await other.post('/bio-pages', { slug: 'deleted-one' })).status).toBe(409);
      expect((await check(shop, 'deleted-one')).body).toMatchObject({ available: true, reason: null });
      expect((await shop.post('/bio-pages', { slug: 'deleted-one' })).status).toBe(201);
    },
  );
});
