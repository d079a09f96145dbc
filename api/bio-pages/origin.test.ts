import { describe, expect } from 'vitest';
import { bioBody, bioPage, makeBioPage } from '../../test/support/bio.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { type ConsoleBrowser, signedInAs } from '../../test/support/members.ts';
import type { BioPageRecord } from './schemas.ts';

type List = { bio_pages: BioPageRecord[] };

let operator: ConsoleBrowser;
test.beforeAll(async ({ api, shop }) => {
  operator = await signedInAs(api, shop, 'operator');
});

async function makeInConsole(slug: string, more: object = {}): Promise<BioPageRecord> {
  const { status, body } = await operator.call<BioPageRecord>('POST', '/bio-pages', {
    body: bioBody(slug, more),
  });
  expect(status).toBe(201);
  return body;
}

describe('a page of the API', () => {
  test('does not exist for the console: it is not listed, shown, changed, counted or deleted there', async ({
    shop,
  }) => {
    const page = await makeBioPage(shop, 'of-the-api');
    expect(page.made_in).toBe('api');
    const { text } = await operator.call('GET', '/bio-pages');
    expect(text).not.toContain(page.id);
    for (const name of [page.id, page.slug]) {
      const path = `/bio-pages/${name}`;
      expect((await operator.call('GET', path)).status).toBe(404);
      expect((await operator.call('GET', `${path}/stats`)).status).toBe(404);
      expect((await operator.call('PATCH', path, { body: { title: 'Taken over' } })).status).toBe(404);
      expect((await operator.call('DELETE', path)).status).toBe(404);
    }
    expect(await bioPage(shop, page.id)).toEqual(page);
  });

  test('is not given to the console for its external_id either: 409', async ({ shop }) => {
    await makeBioPage(shop, 'known', { external_id: 'known' });
    const answer = await operator.call('POST', '/bio-pages', {
      body: bioBody('console-known', { external_id: 'known' }),
    });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
  });

  test('keeps its slug from the console', async ({ shop }) => {
    await makeBioPage(shop, 'taken-slug');
    expect((await operator.call('POST', '/bio-pages', { body: bioBody('taken-slug') })).status).toBe(409);
    const free = await operator.call<{ reason: string }>('GET', '/bio-pages/availability?slug=taken-slug');
    expect(free.body.reason).toBe('taken');
  });
});

describe('a page of the console', () => {
  test('is made, listed, changed, counted and deleted there', async () => {
    const page = await makeInConsole('of-the-console');
    expect(page.made_in).toBe('console');
    const listed = await operator.call<List>('GET', '/bio-pages');
    expect(listed.body.bio_pages).toEqual([page]);
    const changed = await operator.call<BioPageRecord>('PATCH', `/bio-pages/${page.id}`, {
      body: { title: 'Changed' },
    });
    expect(changed.body).toMatchObject({ title: 'Changed', made_in: 'console', links: page.links });
    expect((await operator.call('GET', `/bio-pages/${page.slug}/stats`)).status).toBe(200);
    expect((await operator.call('DELETE', `/bio-pages/${page.id}`)).status).toBe(200);
    expect((await operator.call('GET', `/bio-pages/${page.id}`)).status).toBe(404);
  });

  test('is one of the pages of the workspace for a key, which may change it without taking it over', async ({
    shop,
  }) => {
    const page = await makeInConsole('shared', { external_id: 'shared' });
    const { body } = await shop.get<List>('/bio-pages?limit=200');
    expect(body.bio_pages).toContainEqual(page);
    expect((await shop.post('/bio-pages', bioBody('other', { external_id: 'shared' }))).body).toEqual(page);
    await shop.patch(`/bio-pages/${page.id}`, { title: 'By the key' });
    const now = await operator.call<BioPageRecord>('GET', `/bio-pages/${page.id}`);
    expect(now.body).toMatchObject({ title: 'By the key', made_in: 'console' });
  });

  test('belongs to its workspace only', async ({ api }) => {
    const page = await makeInConsole('mine');
    const thief = await signedInAs(api, await api.addWorkspace(), 'owner');
    expect((await thief.call('GET', `/bio-pages/${page.id}`)).status).toBe(404);
    expect((await thief.call<List>('GET', '/bio-pages')).body.bio_pages).toEqual([]);
  });

  test('can be read but not changed by an analyst', async ({ api, shop }) => {
    const analyst = await signedInAs(api, shop, 'analyst');
    const page = await makeInConsole('read-only');
    expect((await analyst.call('GET', `/bio-pages/${page.id}`)).status).toBe(200);
    expect((await analyst.call('PATCH', `/bio-pages/${page.id}`, { body: { title: 'X' } })).status).toBe(403);
    expect((await analyst.call('POST', '/bio-pages', { body: bioBody('no-page') })).status).toBe(403);
    expect((await analyst.call('POST', '/bio-pages/preview', { body: {} })).status).toBe(200);
  });
});
