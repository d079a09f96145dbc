import { describe, expect } from 'vitest';
import { DEFAULT_THEME, mergeTheme } from '../../core/bio/theme.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { bioBody, bioPage, changeBioPage, makeBioPage, trackedLinks } from '../../test/support/bio.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import type { LinkRecord } from '../links/schemas.ts';
import type { BioPageRecord } from './schemas.ts';

const link = async (shop: TestWorkspace, id: string | null | undefined) =>
  shop.get<LinkRecord>(`/links/${id}`);

describe('PATCH /bio-pages/:id', () => {
  test('changes what it names, by id or by slug, and leaves the rest', async ({ shop }) => {
    const page = await makeBioPage(shop, 'change', { metadata: { a: 1 } });
    const byId = await changeBioPage(shop, page.id, { title: 'New', is_published: false });
    expect(byId).toEqual({ ...page, title: 'New', is_published: false, updated_at: byId.updated_at });
    expect(byId.updated_at > page.updated_at).toBe(true);
    const bySlug = await changeBioPage(shop, 'change', { bio: '', show_branding: false, social_links: [] });
    expect(bySlug).toMatchObject({ bio: '', show_branding: false, social_links: [], title: 'New' });
    const cleared = await changeBioPage(shop, 'change', { avatar_url: null, metadata: null });
    expect([cleared.avatar_url, cleared.metadata]).toEqual([null, null]);
    expect(cleared.links).toEqual(page.links);
    const avatar = { avatar_url: 'https://img.example/a.png', avatar_width: 400, avatar_height: 300 };
    expect(await changeBioPage(shop, 'change', avatar)).toMatchObject(avatar);
    expect(await changeBioPage(shop, 'change', { title: 'Same' })).toMatchObject(avatar);
    // The size belonged to the former picture.
    const other = { avatar_url: 'https://img.example/b.png' };
    const unknown = { avatar_width: null, avatar_height: null };
    expect(await changeBioPage(shop, 'change', other)).toMatchObject({ ...other, ...unknown });
  });

  test('slug and external_id stay, so a page may be sent back as it was read', async ({ shop }) => {
    const page = await makeBioPage(shop, 'echo', { external_id: 'echo-1' });
    const echoed = await changeBioPage(shop, page.id, { ...page, slug: 'other-slug', external_id: 'echo-2' });
    expect(echoed).toEqual({ ...page, updated_at: echoed.updated_at });
  });

  test('an invalid change changes nothing: 400', async ({ shop }) => {
    const page = await makeBioPage(shop, 'invalid-change');
    const links = [{ label: 'A', url: 'javascript:alert(1)' }];
    expect((await shop.patch(`/bio-pages/${page.id}`, { title: 'New', links })).status).toBe(400);
    expect(await bioPage(shop, page.id)).toEqual(page);
  });

  test('an unknown page: 404', async ({ shop }) => {
    for (const id of ['nobody', crypto.randomUUID()]) {
      expect((await shop.patch(`/bio-pages/${id}`, { title: 'T' })).status).toBe(404);
      expect((await shop.get(`/bio-pages/${id}`)).status).toBe(404);
      expect((await shop.delete(`/bio-pages/${id}`)).status).toBe(404);
      expect((await shop.get(`/bio-pages/${id}/stats`)).status).toBe(404);
    }
  });
});

describe("PATCH of a button's short link", () => {
  test('moves the button too, and a later save of the page leaves it there', async ({ shop }) => {
    const links = [
      { id: 'a', label: 'A', url: 'https://one.example/' },
      { id: 'b', label: 'B', url: 'https://b.example/' },
    ];
    const page = await makeBioPage(shop, 'moved-by-link', { links });
    const id = page.links[0]?.tracked_link_id;
    const moved = await shop.patch<LinkRecord>(`/links/${id}`, { destination_url: 'https://two.example/' });
    expect(moved.status).toBe(200);
    const shown = await bioPage(shop, page.id);
    expect(shown.links.map(({ url }) => url)).toEqual(['https://two.example/', 'https://b.example/']);
    expect(shown.updated_at > page.updated_at).toBe(true);
    const saved = await changeBioPage(shop, page.id, { title: 'Later' });
    expect(saved.links.map(({ url }) => url)).toEqual(['https://two.example/', 'https://b.example/']);
    expect((await link(shop, id)).body.destination).toContain('https://two.example/');
  });

  test('keeps to the length of a button: 400 that names the field, and nothing moves', async ({ shop }) => {
    const page = await makeBioPage(shop, 'moved-too-far', {
      links: [{ id: 'a', label: 'A', url: 'https://one.example/' }],
    });
    const long = `https://two.example/${'x'.repeat(3_000)}`;
    const id = page.links[0]?.tracked_link_id;
    const refused = await shop.patch(`/links/${id}`, { destination_url: long });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'destination_url']);
    expect(await bioPage(shop, page.id)).toEqual(page);
  });
});

describe('the theme', () => {
  test('is merged onto the current one; a value outside its set becomes the default', async ({ shop }) => {
    const page = await makeBioPage(shop, 'themed', {
      theme: {
        canvasMode: 'gradient',
        canvasValue: 'sunset',
        buttonRadius: 'full',
        textColor: 'red',
        odd: 1,
      },
    });
    expect(page.theme).toEqual({
      ...DEFAULT_THEME,
      canvasMode: 'gradient',
      canvasValue: 'sunset',
      buttonRadius: 'full',
      textColor: 'red',
    });
    const merged = await changeBioPage(shop, 'themed', {
      theme: { buttonRadius: 'huge', font: 'serif', textColor: 'url(javascript:alert(1))' },
    });
    expect(merged.theme).toEqual({ ...page.theme, buttonRadius: 'md', font: 'serif', textColor: '#111111' });
  });

  test.for(['dark', null, [], 7])('%j is not a theme: 400', async (theme, { shop }) => {
    await shop.post('/bio-pages', bioBody('bad-theme'));
    expect((await shop.patch('/bio-pages/bad-theme', { theme })).status).toBe(400);
  });

  test('merging a theme keeps keys that are not named', () => {
    expect(mergeTheme({ ...DEFAULT_THEME, font: 'mono' }, {}).font).toBe('mono');
  });
});

describe('buttons', () => {
  const url = 'https://new.example/page';

  test('one keeps its short link while its id stays, with another url, label and place', async ({ shop }) => {
    const before = await makeBioPage(shop, 'kept');
    const after = await changeBioPage(shop, 'kept', {
      links: [
        { id: 'blog', label: 'Blog', url: 'http://blog.example' },
        { id: 'shop', label: 'Store', url },
      ],
    });
    const [was, is] = [trackedLinks(before), trackedLinks(after)];
    expect(is).toEqual({ blog: was.blog, shop: was.shop });
    expect(after.links[1]).toMatchObject({ label: 'Store', url, short_url: before.links[0]?.short_url });
    const { body } = await link(shop, was.shop);
    expect([body.destination, body.name]).toEqual([url, 'Store']);
  });

  test('one that is left out, or becomes a heading, loses its short link', async ({ api, shop }) => {
    const before = trackedLinks(await makeBioPage(shop, 'removed'));
    const after = await changeBioPage(shop, 'removed', {
      links: [
        { id: 'shop', type: 'section', label: 'Shop' },
        { id: 'talk', label: 'Talk', url },
      ],
    });
    expect(trackedLinks(after)).toEqual({ shop: null, talk: before.talk });
    for (const id of [before.shop, before.blog]) expect((await link(shop, id)).status).toBe(404);
    expect((await link(shop, before.talk)).status).toBe(200);
    const { rows } = await api.stores.pool.query(
      `SELECT count(*) AS gone FROM links WHERE id = ANY ($1) AND deleted_at IS NOT NULL`,
      [[before.shop, before.blog]],
    );
    expect(rows[0].gone).toBe(2);
  });

  test('a removed one frees its place under the cap for another of the same save', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const links = (from: number) =>
      Array.from({ length: 25 }, (_, n) => ({ id: `b${from + n}`, label: 'B', url }));
    await makeBioPage(free, 'full-page', { links: links(0) });
    const after = await changeBioPage(free, 'full-page', { links: links(10) });
    expect(after.links.every((button) => button.tracked_link_id !== null)).toBe(true);
  });

  test('the same id on another page is another button', async ({ shop }) => {
    const one = trackedLinks(await makeBioPage(shop, 'page-one'));
    const two = trackedLinks(await makeBioPage(shop, 'page-two'));
    expect(one.shop).not.toBe(two.shop);
    await changeBioPage(shop, 'page-one', { links: [] });
    expect((await link(shop, two.shop)).status).toBe(200);
  });

  test('a short link that was deleted alone leaves the button without one; saving again makes another', async ({
    shop,
  }) => {
    const before = await makeBioPage(shop, 'orphan');
    const id = trackedLinks(before).shop;
    await shop.delete(`/links/${id}`);
    expect((await bioPage(shop, 'orphan')).links[0]).toMatchObject({
      tracked_link_id: null,
      short_url: null,
    });
    const after = await changeBioPage(shop, 'orphan', {});
    expect(after.links[0]?.tracked_link_id).toEqual(expect.any(String));
    expect(after.links[0]?.tracked_link_id).not.toBe(id);
  });

  test('a short link that was renamed shows its new address', async ({ shop }) => {
    const page = await makeBioPage(shop, 'renamed');
    await shop.patch(`/links/${trackedLinks(page).shop}`, { slug: 'Shop-Now' });
    expect((await bioPage(shop, 'renamed')).links[0]?.short_url).toBe('https://hop.example/Shop-Now');
  });

  test('when no short link can be made, whatever the reason, the page is saved', async ({ api, shop }) => {
    const { admin } = api.stores;
    await admin.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no links today'; END $$`);
    await admin.query(
      `CREATE TRIGGER no_links BEFORE INSERT ON links FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    const page = await makeBioPage(shop, 'no-links');
    expect(page.links.map((button) => button.tracked_link_id)).toEqual([null, null, null, null]);
    await admin.query('DROP TRIGGER no_links ON links');
    const saved = await changeBioPage(shop, 'no-links', { title: 'Again' });
    expect(saved.links.filter((button) => button.tracked_link_id !== null)).toHaveLength(3);
  });

  test('many saves at once leave no button with two links', async ({ shop }) => {
    await makeBioPage(shop, 'busy', { links: [] });
    const links = [{ id: 'a', label: 'A', url }];
    await Promise.all(Array.from({ length: 6 }, () => changeBioPage(shop, 'busy', { links })));
    const { body } = await shop.get<{ links: LinkRecord[] }>('/links?view=records&channel=bio&limit=500');
    expect(body.links.filter((record) => record.utm_campaign === 'busy')).toHaveLength(1);
  });
});

test('DELETE removes the page and its short links: { ok: true }, and the slug can be made again', async ({
  shop,
}) => {
  const page = await makeBioPage(shop, 'gone');
  const answer = await shop.delete<{ ok: boolean }>('/bio-pages/gone');
  expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
  expect((await shop.get('/bio-pages/gone')).status).toBe(404);
  expect((await shop.get(`/bio-pages/${page.id}`)).status).toBe(404);
  for (const id of Object.values(trackedLinks(page))) if (id) expect((await link(shop, id)).status).toBe(404);
  const again = await makeBioPage(shop, 'gone');
  expect(trackedLinks(again).shop).not.toBe(trackedLinks(page).shop);
});

describe('GET /bio-pages', () => {
  type List = { bio_pages: BioPageRecord[]; next_cursor: string | null };

  test('lists newest first, and a walk returns every page once', async ({ api }) => {
    const other = await api.addWorkspace();
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.unshift((await makeBioPage(other, `listed-${n}`)).id);
    const all = await other.get<List>('/bio-pages');
    expect(all.body).toMatchObject({ next_cursor: null });
    expect(all.body.bio_pages.map((page) => page.id)).toEqual(made);
    expect(all.body.bio_pages[0]).toEqual(await bioPage(other, 'listed-6'));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body }: { body: List } = await other.get(
        `/bio-pages?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(body.bio_pages.length).toBeLessThanOrEqual(3);
      seen.push(...body.bio_pages.map((page) => page.id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(made);
  });

  test('pages made at once have creation times of their own', async ({ api }) => {
    const other = await api.addWorkspace();
    await Promise.all(Array.from({ length: 8 }, (_, n) => makeBioPage(other, `burst-${n}`, { links: [] })));
    const { body } = await other.get<List>('/bio-pages');
    expect(new Set(body.bio_pages.map((page) => page.created_at)).size).toBe(8);
  });

  test('50 a page unless asked otherwise, at most 200', async ({ api }) => {
    const other = await api.addWorkspace();
    for (let n = 0; n < 51; n++) await makeBioPage(other, `fifty-${n}`, { links: [] });
    expect((await other.get<List>('/bio-pages')).body.bio_pages).toHaveLength(50);
    expect((await other.get<List>('/bio-pages?limit=200')).body.bio_pages).toHaveLength(51);
    for (const limit of ['201', '0', '1.5', 'all']) {
      expect((await other.get(`/bio-pages?limit=${limit}`)).status).toBe(400);
    }
    expect((await other.get('/bio-pages?cursor=yesterday')).status).toBe(400);
  });

  test('external_id finds one page', async ({ shop }) => {
    const page = await makeBioPage(shop, 'findable', { external_id: 'find-me' });
    expect((await shop.get<List>('/bio-pages?external_id=find-me')).body.bio_pages).toEqual([page]);
    expect((await shop.get<List>('/bio-pages?external_id=nobody')).body.bio_pages).toEqual([]);
  });
});
