import { describe, expect } from 'vitest';
import { DEFAULT_THEME } from '../../core/bio/theme.ts';
import { RESERVED_SLUGS } from '../../core/links/slugs.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { bioBody, bioPage, makeBioPage } from '../../test/support/bio.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import type { LinkRecord } from '../links/schemas.ts';
import type { BioPageRecord } from './schemas.ts';

const post = (shop: TestWorkspace, body: object, headers = {}) =>
  shop.post<BioPageRecord>('/bio-pages', body, { headers });
const statusOf = async (shop: TestWorkspace, body: object) => (await post(shop, body)).status;

test('a page is returned completely: 201', async ({ shop }) => {
  const { status, body } = await post(
    shop,
    bioBody('whole', {
      avatar_url: 'https://img.example/a.png',
      avatar_width: 400,
      avatar_height: 300,
      external_id: 'e-1',
      metadata: { a: [1] },
    }),
  );
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    slug: 'whole',
    url: 'https://hop.example/whole',
    title: 'Ada Lovelace',
    bio: 'Notes on the Analytical Engine',
    avatar_url: 'https://img.example/a.png',
    avatar_width: 400,
    avatar_height: 300,
    theme: DEFAULT_THEME,
    links: [
      {
        id: 'shop',
        type: 'link',
        label: 'Shop',
        url: 'https://shop.example/?a=1',
        emoji: '🛒',
        image_url: null,
        tracked_link_id: expect.any(String),
        short_url: expect.stringMatching(/^https:\/\/hop\.example\/[1-9A-Za-z]{7}$/),
      },
      {
        id: 'head',
        type: 'section',
        label: 'Elsewhere',
        url: null,
        emoji: null,
        image_url: null,
        tracked_link_id: null,
        short_url: null,
      },
      expect.objectContaining({
        id: 'blog',
        url: 'http://blog.example',
        tracked_link_id: expect.any(String),
      }),
      expect.objectContaining({ id: 'talk', image_url: 'https://img.example/t.png' }),
    ],
    social_links: [{ platform: 'github', url: 'https://github.com/ada' }],
    is_published: true,
    show_branding: true,
    language: null,
    external_id: 'e-1',
    metadata: { a: [1] },
    made_in: 'api',
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  });
  expect(await bioPage(shop, body.id)).toEqual(body);
  expect(await bioPage(shop, 'whole')).toEqual(body);
});

test('a slug is all that a page needs', async ({ shop }) => {
  const { status, body } = await post(shop, { slug: 'bare' });
  expect([status, body]).toEqual([
    201,
    expect.objectContaining({
      title: '',
      bio: '',
      avatar_url: null,
      avatar_width: null,
      avatar_height: null,
      links: [],
      social_links: [],
      is_published: true,
      show_branding: true,
      external_id: null,
      metadata: null,
    }),
  ]);
});

describe('buttons', () => {
  test('each link button has a short link on the channel bio, in the records view and the list of channels', async ({
    shop,
  }) => {
    const page = await makeBioPage(shop, 'records');
    const ids = page.links.flatMap((button) => button.tracked_link_id ?? []);
    expect(new Set(ids).size).toBe(3);
    const { body } = await shop.get<{ links: LinkRecord[] }>('/links?view=records&channel=bio');
    const record = body.links.find((link) => link.id === ids[0]);
    expect(record).toMatchObject({
      destination: 'https://shop.example/?a=1',
      short_url: page.links[0]?.short_url,
      name: 'Shop',
      channel: 'bio',
      utm_source: 'bio',
      utm_campaign: 'records',
      external: true,
    });
  });

  test('their URLs neither need nor set the own-site domain', async ({ api }) => {
    const other = await api.addWorkspace();
    await makeBioPage(other, 'no-domain');
    const { body } = await other.get<{ workspace: { primary_domain: string } }>('/me');
    expect(body.workspace.primary_domain).toBe('');
  });

  test('one without an id gets one, one without a type is a link, what is sent as tracked is ignored', async ({
    shop,
  }) => {
    const url = 'https://a.example';
    const page = await makeBioPage(shop, 'ids', {
      links: [
        { label: 'A', url, tracked: false },
        { label: 'B', url },
      ],
    });
    expect(page.links.map((link) => link.type)).toEqual(['link', 'link']);
    expect(new Set(page.links.map((link) => link.id)).size).toBe(2);
    for (const link of page.links) {
      expect(link.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(link.tracked_link_id).not.toBeNull();
    }
  });

  test('one that leads to a short link of ours is saved and leads there straight', async ({ shop }) => {
    const page = await makeBioPage(shop, 'own-origin', {
      links: [{ id: 'a', label: 'A', url: 'https://hop.example/whole' }],
    });
    expect(page.links[0]).toMatchObject({
      url: 'https://hop.example/whole',
      tracked_link_id: null,
      short_url: null,
    });
  });

  test('the channel bio can be asked for by no create of links', async ({ shop }) => {
    const link = { destination_url: 'https://a.example', name: 'N', channel: 'bio', external: true };
    expect((await shop.post('/links', link)).status).toBe(400);
  });
});

describe('the cap of links', () => {
  const links = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `b${n}`, label: `B${n}`, url: `https://b${n}.example` }));

  test('buttons count, one link each; those beyond it are saved and lead straight to their URL', async ({
    api,
  }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const page = await makeBioPage(free, 'capped', { links: links(27) });
    expect(page.links.filter((link) => link.tracked_link_id !== null)).toHaveLength(25);
    expect(page.links.slice(25).map((link) => [link.tracked_link_id, link.short_url, link.url])).toEqual([
      [null, null, 'https://b25.example'],
      [null, null, 'https://b26.example'],
    ]);
    const { body } = await free.get<{ plan: { limits: { links: object } } }>('/me');
    expect(body.plan.limits.links).toEqual({ used: 25, limit: 25 });
    const more = { destination_url: 'https://a.example', name: 'N', channel: 'x' };
    expect((await free.post('/links', more)).status).toBe(402);
  });

  test('saving again retries, whatever is saved, and buttons that had a link keep it', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const before = await makeBioPage(free, 'retried', { links: links(26) });
    await api.stores.pool.query(`UPDATE workspaces SET plan = 'starter' WHERE id = $1`, [free.workspace.id]);
    const { body: after } = await free.patch<BioPageRecord>('/bio-pages/retried', { title: 'T' });
    expect(after.links[25]?.tracked_link_id).toEqual(expect.any(String));
    expect(after.links.slice(0, 25)).toEqual(before.links.slice(0, 25));
  });
});

describe('slugs', () => {
  test.for([
    ['My Page', 'my-page'],
    ['  Spaced   Out ', 'spaced-out'],
    ['UPPER', 'upper'],
    ['a-1', 'a-1'],
  ])('%j becomes %s', async ([slug, expected], { shop }) => {
    expect((await post(shop, { slug })).body.slug).toBe(expected);
  });

  test.for(['ab', 'x'.repeat(41), 'under_score', 'ümlaut', 'dot.dot', 'a/b', '', '   '])(
    '%j is refused: 400',
    async (slug, { shop }) => {
      expect(await statusOf(shop, { slug })).toBe(400);
    },
  );

  test.for(RESERVED_SLUGS)('"%s" is reserved: 400', async (slug, { shop }) => {
    expect(await statusOf(shop, { slug: slug.toUpperCase() })).toBe(400);
  });

  test('one of another page, a short link or a program code is taken: 409', async ({ api, shop }) => {
    await makeBioPage(shop, 'taken-page');
    const url = 'https://shop.example';
    await shop.post('/links', { destination_url: url, name: 'N', channel: 'x', slug: 'Taken-Link' });
    await shop.post('/programs', { name: 'P', destination_url: url, code: 'Taken-Code' });
    const other = await api.addWorkspace();
    for (const slug of ['Taken Page', 'taken-link', 'taken-code']) {
      for (const workspace of [shop, other]) {
        const answer = await workspace.post('/bio-pages', { slug });
        expect([slug, answer.status, answer.body.error.code]).toEqual([slug, 409, 'conflict']);
      }
    }
  });

  test("a page's slug is taken for links and programs, in any case", async ({ shop }) => {
    await makeBioPage(shop, 'page-first');
    const url = 'https://shop.example';
    const link = { destination_url: url, name: 'N', channel: 'x', slug: 'Page-First' };
    expect((await shop.post('/links', link)).status).toBe(409);
    expect(
      (await shop.post('/programs', { name: 'P', destination_url: url, code: 'PAGE-first' })).status,
    ).toBe(409);
  });

  test('one of many concurrent creates of one slug succeeds', async ({ shop }) => {
    const statuses = await Promise.all(Array.from({ length: 8 }, () => statusOf(shop, { slug: 'raced' })));
    expect(statuses.sort()).toEqual([201, ...Array(7).fill(409)]);
  });
});

describe('external_id', () => {
  test('a known one returns the page and changes nothing: 200', async ({ shop }) => {
    const made = await makeBioPage(shop, 'external', { external_id: 'ext-1' });
    const again = await post(shop, { slug: 'another', title: 'New', external_id: 'ext-1' });
    expect([again.status, again.body]).toEqual([200, made]);
    expect((await shop.get('/bio-pages/another')).status).toBe(404);
  });

  test('of many creates at once one makes the page', async ({ shop }) => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => post(shop, { slug: `many-${n}`, external_id: 'ext-2' })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  });

  test('it is unique in the workspace only', async ({ api, shop }) => {
    const other = await api.addWorkspace();
    await makeBioPage(shop, 'ext-mine', { external_id: 'ext-3' });
    expect((await other.post('/bio-pages', { slug: 'ext-theirs', external_id: 'ext-3' })).status).toBe(201);
  });
});

test('an Idempotency-Key replays the response', async ({ shop }) => {
  const headers = { 'idempotency-key': 'bio-1' };
  const first = await post(shop, bioBody('idempotent'), headers);
  const second = await post(shop, bioBody('idempotent'), headers);
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(await statusOf(shop, bioBody('idempotent'))).toBe(409);
  expect((await post(shop, bioBody('another-one'), headers)).status).toBe(422);
});

describe('limits', () => {
  const button = (more: object) => ({
    slug: 'limits',
    links: [{ label: 'A', url: 'https://a.example', ...more }],
  });
  const url = (length: number) => `https://a.example/${'x'.repeat(length - 18)}`;

  test.for<[string, object]>([
    ['no slug', {}],
    ['a title of 61 characters', { title: 'x'.repeat(61) }],
    ['a title of null', { title: null }],
    ['a bio of 281', { bio: 'x'.repeat(281) }],
    ['an avatar that is not a URL', { avatar_url: 'me.png' }],
    ['an empty avatar', { avatar_url: '' }],
    ['a size without an avatar', { avatar_width: 400, avatar_height: 400 }],
    ['one side of an avatar', { avatar_url: 'https://img.example/a.png', avatar_width: 400 }],
    [
      'an avatar without a width',
      { avatar_url: 'https://img.example/a.png', avatar_width: 0, avatar_height: 1 },
    ],
    ['a script as avatar', { avatar_url: 'javascript:alert(1)' }],
    ['51 buttons', { links: Array.from({ length: 51 }, () => ({ type: 'section', label: 'S' })) }],
    ['a button without url', button({ url: undefined })],
    ['a button with a script', button({ url: 'javascript:alert(1)' })],
    ['a button with a mailto without an address', button({ url: 'mailto:nobody' })],
    ['a button to one label', button({ url: 'https://example' })],
    ['a button to a scheme behind a host', button({ url: 'https://www.https://x.example' })],
    ['an image at one label', button({ image_url: 'https://example/a.png' })],
    ['a button with credentials', button({ url: 'https://user:pass@a.example' })],
    ['a button with a bare word', button({ url: 'example' })],
    ['a button with a space in its URL', button({ url: 'https://a.example/ b' })],
    ['a button URL of 2,049 characters', button({ url: url(2_049) })],
    ['one of characters without width', button({ url: `https://a${'\u200b'.repeat(700)}.example/` })],
    ['a label of 81', button({ label: 'x'.repeat(81) })],
    ['an id of 65', button({ id: 'x'.repeat(65) })],
    ['an id with a dot', button({ id: 'a.b' })],
    ['an empty id', button({ id: '' })],
    ['another type', button({ type: 'video' })],
    ['a button image that is not a URL', button({ image_url: '/a.png' })],
    ['an id twice', { links: [0, 1].map(() => ({ id: 'same', type: 'section' })) }],
    ['13 social links', { social_links: Array(13).fill({ platform: 'x', url: 'https://x.com/a' }) }],
    ['another platform', { social_links: [{ platform: 'myspace', url: 'https://m.example' }] }],
    ['a social link without url', { social_links: [{ platform: 'x' }] }],
    [
      'a mailto for another platform than email',
      { social_links: [{ platform: 'x', url: 'mailto:a@b.example' }] },
    ],
    ['a malformed email', { social_links: [{ platform: 'email', url: 'mailto:nobody' }] }],
    ['a theme that is a text', { theme: 'dark' }],
    ['a theme that is a list', { theme: [] }],
    ['a theme that is null', { theme: null }],
    ['is_published as text', { is_published: 'true' }],
    ['an external_id of 201', { external_id: 'x'.repeat(201) }],
    ['an empty external_id', { external_id: '' }],
    ['metadata over 4 KB', { metadata: { a: 'x'.repeat(4_090) } }],
    ['metadata that is a list', { metadata: [] }],
  ])('%s: 400', async ([name, body], { shop }) => {
    expect(await statusOf(shop, name === 'no slug' ? body : { slug: 'limits', ...body })).toBe(400);
  });

  test('the maximum length of every field is accepted', async ({ shop }) => {
    const { status, body } = await post(shop, {
      slug: 'x'.repeat(40),
      title: '😀'.repeat(60),
      bio: '😀'.repeat(280),
      external_id: '😀'.repeat(200),
      metadata: { a: 'x'.repeat(4_088) },
      links: Array.from({ length: 50 }, (_, n) => ({
        id: `${n}-`.padEnd(64, 'x'),
        label: '😀'.repeat(80),
        url: url(2_048),
        emoji: '👩‍👩‍👧‍👦',
      })),
      social_links: Array(12).fill({ platform: 'x', url: 'https://x.com/a' }),
    });
    expect(status).toBe(201);
    expect(body.links.every((link) => link.tracked_link_id !== null)).toBe(true);
  });

  test('a button may lead to an email address or a telephone number, without a short link', async ({
    shop,
  }) => {
    const urls = [
      'mailto:ada@example.com?subject=Hi',
      'tel:+49-30-123456',
      'sms:+4915112345678?body=Hi',
      'TEL:112',
      'mailto:ada@example.com,bob@example.com?subject=Hi',
      'tel:+49 30 123456',
      'mailto:ada@example.com, bob@example.com',
      'sms:+49 30 123?body=Hi there',
      'mailto:ada@example.com?subject=Hi there',
      'tel:+49\u202f30\u2009123\t45\u3000 6\u00a0',
      'sms:+49\u202f30 123?body=Hi\u202fthere',
      'mailto: ada@example.com ,\u00a0bob@example.com\u2009, cy@example.com ',
      'tel:030/123 45',
      'mailto:?subject=Hi&to=ada@example.com',
    ];
    const stored = [
      ...urls.slice(0, 5),
      'tel:+4930123456',
      'mailto:ada@example.com,bob@example.com',
      'sms:+4930123?body=Hi%20there',
      'mailto:ada@example.com?subject=Hi%20there',
      'tel:+4930123456',
      'sms:+4930123?body=Hi%E2%80%AFthere',
      'mailto:ada@example.com,bob@example.com,cy@example.com',
      'tel:030/12345',
      'mailto:?subject=Hi&to=ada@example.com',
    ];
    const page = await makeBioPage(shop, 'contacts', {
      links: urls.map((link) => ({ label: 'Contact', url: link })),
    });
    expect(page.links.map((link) => [link.url, link.tracked_link_id, link.short_url])).toEqual(
      stored.map((link) => [link, null, null]),
    );
    for (const wrong of [
      'mailto:ada@example.com,bob',
      'tel: ',
      'tel:',
      'tel:nobody',
      'mailto:ada',
      'sms:?body=x',
      'mailto:a@b c',
      'mailto:?to=ada',
      'tel:030 12 34 ext. 5',
      'javascript:1',
      'callto:1',
    ])
      expect(await statusOf(shop, { slug: 'no-contact', links: [{ label: 'x', url: wrong }] })).toBe(400);
  });

  test('an email is an address, a mailto URL or a page', async ({ shop }) => {
    const urls = ['ada@example.com', 'mailto:ada@example.com', 'https://ada.example/contact'];
    const page = await makeBioPage(shop, 'emails', {
      social_links: urls.map((url) => ({ platform: 'email', url })),
    });
    expect(page.social_links.map((link) => link.url)).toEqual([
      'mailto:ada@example.com',
      'mailto:ada@example.com',
      'https://ada.example/contact',
    ]);
  });

  test.for(['ada@', 'mailto:ada@example.com?subject=Hi', 'mailto:ada@example.com,bob@example.com'])(
    'who sends %j as an email hears that it is none',
    async (sent, { shop }) => {
      const body = { slug: 'no-email', social_links: [{ platform: 'email', url: sent }] };
      const { status, body: answer } = await shop.post('/bio-pages', body);
      expect(status).toBe(400);
      expect(answer).toMatchObject({
        error: {
          details: [{ path: 'social_links.0.url', message: expect.stringMatching(/one email address/) }],
        },
      });
    },
  );
});

test('any plan may, a publishable key may not', async ({ api }) => {
  const free = await api.addWorkspace({ plan: 'free' });
  const page = await makeBioPage(free, 'free-page');
  for (const path of ['/bio-pages', `/bio-pages/${page.id}`, '/bio-pages/availability?slug=abc']) {
    expect((await free.get(path)).status).toBe(200);
    expect((await free.get(path, { key: free.publishableKey })).status).toBe(403);
  }
  expect((await free.patch(`/bio-pages/${page.id}`, { title: 'T' })).status).toBe(200);
  const stats = await free.get(`/bio-pages/${page.id}/stats`);
  expect([stats.status, stats.body.error.code]).toEqual([402, 'payment_required']);
  expect((await free.delete(`/bio-pages/${page.id}`)).status).toBe(200);
});
