import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { changeBioPage, makeBioPage, trackedLinks } from '../../test/support/bio.ts';
import { makeDomain } from '../../test/support/domains.ts';
import { slugsHeld, startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { untilSynced } from '../../test/support/synced-links.ts';

let api: TestApi;
let shop: TestWorkspace;
let ingest: TestIngest;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  ingest = await start();
});
afterAll(async () => {
  await ingest.close();
  await ingest.remove();
  await api.close();
});

const start = (given: Partial<Parameters<typeof startTestIngest>[0]> = {}) =>
  startTestIngest({
    ...api.stores,
    env: { SHORT_URL: 'https://hop.example', PUBLIC_URL: 'https://bio.example' },
    ...given,
  });

const get = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(`${ingest.url}/${path}`, { redirect: 'manual', ...init });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const html = async (path: string) => (await get(path)).text;

describe('the public page', () => {
  test('shows title, bio, social links, headings and buttons that lead through their short links', async () => {
    const page = await makeBioPage(shop, 'shown');
    const { status, headers, text } = await get('shown');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
    expect(text).toContain('<h1 dir="auto">Ada Lovelace</h1>');
    expect(text).toContain('Notes on the Analytical Engine');
    expect(text).toContain('<h2 dir="auto">Elsewhere</h2>');
    expect(text).toContain('href="https://github.com/ada"');
    for (const button of page.links.filter(({ type }) => type === 'link')) {
      expect(text).toContain(`href="${button.short_url}"`);
      expect(text).not.toContain(`href="${button.url}"`);
    }
    // A page in a frame leads out of it.
    expect(text.match(/<a /g)?.length).toBe(text.match(/<a [^>]*target="_top"/g)?.length);
    expect(text.indexOf('>Shop<')).toBeLessThan(text.indexOf('>Blog<'));
  });

  test('a page responds to any spelling of its slug', async () => {
    await makeBioPage(shop, 'mypage');
    for (const path of ['MyPage', 'MYPAGE', 'mypage', 'mypage/', 'MyPage.'])
      expect((await get(path)).status).toBe(200);
  });

  test('a button without a short link links to its URL', async () => {
    await makeBioPage(shop, 'straight', {
      links: [{ label: 'A', url: 'https://hop.example/somewhere?a=1&b="2"' }],
    });
    expect(await html('straight')).toContain('href="https://hop.example/somewhere?a=1&#38;b=&#34;2&#34;"');
  });

  test('its short links redirect to the buttons’ URLs with UTM parameters, http URLs too', async () => {
    const page = await makeBioPage(shop, 'leads');
    const slug = page.links[2]?.short_url?.split('/').at(-1) ?? '';
    const { status, headers } = await get(slug);
    expect(status).toBe(302);
    const to = new URL(headers.get('location') ?? '');
    expect([to.origin, to.searchParams.get('utm_source'), to.searchParams.get('utm_campaign')]).toEqual([
      'http://blog.example',
      'bio',
      'leads',
    ]);
  });

  test('a short link whose button was removed is 404, and redirects again once the button is back', async () => {
    const button = { id: 'a', label: 'A', url: 'https://a.example/' };
    const page = await makeBioPage(shop, 'set-aside', { links: [button] });
    const slug = page.links[0]?.short_url?.split('/').at(-1) ?? '';
    const status = async () => (await get(slug)).status;
    expect(await status()).toBe(302);
    await changeBioPage(shop, 'set-aside', { links: [{ ...button, url: 'https://hop.example/b' }] });
    await expect.poll(status).toBe(404);
    await changeBioPage(shop, 'set-aside', { links: [{ ...button, url: 'https://c.example/' }] });
    await expect.poll(status).toBe(302);
    expect((await get(slug)).headers.get('location')).toContain('https://c.example/');
    await expect.poll(() => html('set-aside')).toContain(`href="https://hop.example/${slug}"`);
  });

  test('a page view is not a click and sets no cookie', async () => {
    await makeBioPage(shop, 'viewed');
    const before = (await ingest.events()).length;
    const { headers } = await get('viewed');
    expect(headers.get('set-cookie')).toBeNull();
    await get('viewed', { method: 'HEAD' });
    expect((await ingest.events()).length).toBe(before);
  });

  test('HEAD has the headers without a body, POST is 404', async () => {
    await makeBioPage(shop, 'headed');
    const body = Buffer.from(await html('headed'));
    const head = await get('headed', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, `${body.length}`, '']);
    expect((await get('headed', { method: 'POST' })).status).toBe(404);
  });

  test('has Open Graph tags and a canonical address at the public origin', async () => {
    await makeBioPage(shop, 'graph', {
      avatar_url: 'https://img.example/a.png?x=1&y=2',
      avatar_width: 400,
      avatar_height: 300,
      bio: 'Two\nlines',
    });
    const text = await html('graph');
    for (const [property, content] of [
      ['og:title', 'Ada Lovelace'],
      ['og:description', 'Two lines'],
      ['og:url', 'https://bio.example/graph'],
      ['og:image', 'https://img.example/a.png?x=1&#38;y=2'],
      ['og:image:width', '400'],
      ['og:image:height', '300'],
      ['og:type', 'website'],
    ]) {
      expect(text).toContain(`<meta property="${property}" content="${content}">`);
    }
    expect(text).toContain('<link rel="canonical" href="https://bio.example/graph">');
    // Networks show no SVG image and no image over plain HTTP.
    for (const avatar_url of ['http://img.example/a.png', 'https://img.example/a.svg?x=1']) {
      await makeBioPage(shop, `graph-${avatar_url.length}`, {
        avatar_url,
        avatar_width: 400,
        avatar_height: 300,
      });
      const other = await html(`graph-${avatar_url.length}`);
      expect([other.includes('og:image'), other.includes(`src="${avatar_url}"`)]).toEqual([false, true]);
    }
  });

  test('the footer credits the service unless the page hides it', async () => {
    await makeBioPage(shop, 'branded');
    expect(await html('branded')).toContain('Made with Hoplog');
    await changeBioPage(shop, 'branded', { show_branding: false });
    await expect.poll(() => html('branded')).not.toContain('Made with Hoplog');
  });

  test('an empty page shows its slug', async () => {
    await shop.post('/bio-pages', { slug: 'bare-page' });
    const text = await html('bare-page');
    expect(text).toContain('<h1 dir="auto">bare-page</h1>');
    expect(text).not.toContain('<ul');
  });
});

describe('safety', () => {
  const EVIL = `</style><script>alert(1)</script>"><img src=x onerror=alert(1)>'&amp;`;

  test('content of a page is escaped', async () => {
    await makeBioPage(shop, 'evil', {
      title: EVIL.slice(0, 60),
      bio: EVIL,
      avatar_url: `https://img.example/?a="><script>alert(1)</script>`.replaceAll(' ', ''),
      theme: {
        canvasMode: 'image',
        canvasValue: `https://img.example/");}</style><script>alert(1)</script>`,
        footerImage: `https://img.example/'onerror='alert(1)`,
        cardBg: 'red;}</style><script>alert(1)</script>',
      },
      links: [
        { label: EVIL.slice(0, 80), url: `https://a.example/"><script>alert(1)</script>`, emoji: '<b>&' },
        { type: 'section', label: EVIL.slice(0, 80) },
        { label: 'I', url: 'https://a.example', image_url: `https://img.example/"onload="alert(1)` },
      ],
      social_links: [{ platform: 'x', url: `https://x.com/"onclick="alert(1)` }],
    });
    const text = await html('evil');
    expect(text).not.toMatch(/<script|<img src=x|<b>/i);
    expect(text.match(/<\/style>/g)).toHaveLength(1);
    expect(text).not.toMatch(/\son\w+=['"]/);
  });

  test('an emoji of several characters is drawn as its first, as a person counts', async () => {
    const link = (emoji: string) => ({ label: 'Shop', url: 'https://a.example', emoji });
    await makeBioPage(shop, 'emoji', { links: ['👩‍👩‍👧‍👦🎉', 'NEW', ' 🇩🇪🇫🇷', '1️⃣2'].map(link) });
    expect(
      [...(await html('emoji')).matchAll(/class="emoji" aria-hidden="true">([^<]*)</g)].map(([, it]) => it),
    ).toEqual(['👩‍👩‍👧‍👦', 'N', '🇩🇪', '1️⃣']);
  });

  test.each([
    ['متجر آدا', ' lang="ar"'],
    ['فروشگاه چای', ''],
    ['Магазин', ''],
    ['アダの店', ' lang="ja"'],
    ["Ada's shop", ' lang="en"'],
  ])('a page with the title %s has the language that its script tells', async (title, lang) => {
    const slug = `language-${Buffer.from(title).toString('hex').slice(0, 20)}`;
    await makeBioPage(shop, slug, { title, bio: '', links: [] });
    expect(await html(slug)).toMatch(new RegExp(`^<!doctype html><html${lang}>`));
  });

  test('a telephone button leads to the number, and shows it without a label', async () => {
    await makeBioPage(shop, 'phone', { links: [{ label: '', url: 'tel:+49-30-1' }] });
    expect(await html('phone')).toMatch(/href="tel:\+49-30-1"[^>]*>.*\+49-30-1</);
  });

  test('the content security policy allows only its own style sheet and images', async () => {
    await makeBioPage(shop, 'policy');
    const { headers } = await get('policy');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; img-src http: https:; form-action 'none'; base-uri 'none'$/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('changes', () => {
  test('show within a second', async () => {
    await makeBioPage(shop, 'fresh');
    expect(await html('fresh')).toContain('Ada Lovelace');
    await changeBioPage(shop, 'fresh', { title: 'Changed' });
    await expect.poll(() => html('fresh')).toContain('<h1 dir="auto">Changed</h1>');
  });

  test('an unpublished page is 404, and 200 when it is published again', async () => {
    await makeBioPage(shop, 'hidden');
    expect((await get('hidden')).status).toBe(200);
    await changeBioPage(shop, 'hidden', { is_published: false });
    await expect.poll(async () => (await get('hidden')).status).toBe(404);
    await changeBioPage(shop, 'hidden', { is_published: true });
    await expect.poll(async () => (await get('hidden')).status).toBe(200);
  });

  test('a page that was never published is 404', async () => {
    await makeBioPage(shop, 'draft', { is_published: false });
    const { status, text } = await get('draft');
    expect(status).toBe(404);
    expect(text).not.toContain('Ada');
  });

  test('a deleted page and its short links are 404', async () => {
    const page = await makeBioPage(shop, 'deleted');
    const slug = page.links[0]?.short_url?.split('/').at(-1) ?? '';
    expect((await get(slug)).status).toBe(302);
    await shop.delete('/bio-pages/deleted');
    await expect.poll(async () => (await get('deleted')).status).toBe(404);
    await expect.poll(async () => (await get(slug)).status).toBe(404);
    await makeBioPage(shop, 'deleted', { title: 'Second' });
    await expect.poll(() => html('deleted')).toContain('Second');
  });

  test('renaming or deleting a short link changes the page', async () => {
    const page = await makeBioPage(shop, 'linked');
    expect(await html('linked')).toContain(`href="${page.links[0]?.short_url}"`);
    const id = trackedLinks(page).shop;
    await shop.patch(`/links/${id}`, { slug: 'bio-renamed' });
    await expect.poll(() => html('linked')).toContain('href="https://hop.example/bio-renamed"');
    await shop.delete(`/links/${id}`);
    await expect.poll(() => html('linked')).toContain('href="https://shop.example/?a=1"');
  });
});

test('a button shows where its link was moved to, and leads straight to its URL once that domain is lost', async () => {
  const domain = await makeDomain(api.stores.pool, shop.workspace.id, 'go.buttons.example');
  const button = { id: 'a', label: 'A', url: 'https://a.example/' };
  const page = await makeBioPage(shop, 'moved', { links: [button] });
  const slug = page.links[0]?.short_url?.split('/').at(-1) ?? '';
  const shown = () => html('moved');
  await expect.poll(shown).toContain(`href="https://hop.example/${slug}"`);
  await shop.patch(`/links/${trackedLinks(page).a}`, { domain: domain.domain });
  await expect.poll(shown).toContain(`href="https://go.buttons.example/${slug}"`);
  const setStatus = (status: string) =>
    api.stores.pool.query('UPDATE domains SET status = $2 WHERE id = $1', [domain.id, status]);
  await setStatus('pending');
  await expect.poll(shown).toContain('href="https://a.example/"');
  await setStatus('verified');
  await expect.poll(shown).toContain(`href="https://go.buttons.example/${slug}"`);
  await shop.delete(`/domains/${domain.id}?links=move`);
  await expect.poll(shown).toContain(`href="https://hop.example/${slug}"`);
});

test('with PostgreSQL down pages are served, after a restart too; an unpublished page is 404, not 503', async () => {
  await makeBioPage(shop, 'kept');
  await makeBioPage(shop, 'kept-draft', { is_published: false });
  // Every field at the limit of the API, in characters that take the most bytes as JSON.
  const address = (length: number) => `https://a.example/${'\\'.repeat(length - 18)}`;
  const largest = {
    title: `a${'\u0001'.repeat(59)}`,
    bio: '😀'.repeat(280),
    avatar_url: address(1_024),
    links: Array.from({ length: 50 }, (_, n) => ({
      id: `${n}`,
      label: `a${'\u0001'.repeat(79)}`,
      url: address(2_048),
      emoji: '\u0001'.repeat(16),
      image_url: address(1_024),
    })),
    social_links: Array.from({ length: 12 }, () => ({ platform: 'x', url: address(2_048) })),
    theme: { canvasMode: 'image', canvasValue: address(1_024), footerImage: address(1_024) },
  };
  await makeBioPage(shop, 'largest', largest);
  for (const slug of ['kept', 'largest']) expect((await get(slug)).status).toBe(200);
  expect((await get('kept-draft')).status).toBe(404);
  // PostgreSQL may have served the visitor so far. The next start has the file alone.
  await untilSynced(ingest);
  const { dataDir } = ingest;
  await ingest.close();
  ingest = await start({ databaseUrl: 'postgres://u:p@127.0.0.1:1/none', dataDir });
  expect(await html('Kept')).toContain('Ada Lovelace');
  expect(await html('largest')).toContain('😀'.repeat(280));
  expect((await get('kept-draft')).status).toBe(404);
  expect((await get('never-heard-of')).status).toBe(503);
  await ingest.close();
  ingest = await start({ dataDir });
});

test('a page too large for the table is read from PostgreSQL and delays neither changes nor a first start', async () => {
  await makeBioPage(shop, 'beyond');
  await makeBioPage(shop, 'behind');
  // Both are in the table now, so that only a change can replace them.
  await untilSynced(ingest);
  for (const slug of ['beyond', 'behind'])
    expect(await html(slug)).toContain('Notes on the Analytical Engine');
  await api.stores.pool.query(`UPDATE bio_pages SET bio = repeat('x', 1100000) WHERE slug = 'beyond'`);
  await changeBioPage(shop, 'behind', { title: 'Behind it' });
  await expect.poll(() => html('behind')).toContain('Behind it');
  await expect.poll(async () => (await html('beyond')).includes('x'.repeat(1_100_000))).toBe(true);
  await untilSynced(ingest);
  const fresh = await start();
  try {
    await expect.poll(() => slugsHeld(fresh)).toBe(await slugsHeld(ingest));
    expect((await fetch(`${fresh.url}/beyond`)).status).toBe(200);
  } finally {
    await fresh.close();
    await fresh.remove();
  }
});

describe('languages', () => {
  const inLanguage = (path: string, header: string) => get(path, { headers: { 'accept-language': header } });
  const shown = ({ text, headers }: Awaited<ReturnType<typeof get>>) => ({
    html: /<html[^>]*?( lang="\w*")?( dir="\w*")?>/.exec(text)?.slice(1).join(''),
    footer: /<footer.*?<\/footer>/.exec(text)?.[0],
    vary: headers.get('vary'),
  });

  test('the words of a bio page are in the language of the visitor, and its texts stay in theirs', async () => {
    await makeBioPage(shop, 'spoken', { title: 'Ada', show_branding: true });
    expect(shown(await inLanguage('spoken', 'de-CH,en;q=0.5'))).toEqual({
      html: ' lang="en"',
      footer: '<footer lang="de" dir="ltr">Erstellt mit Hoplog</footer>',
      vary: 'Accept-Language',
    });
    expect(shown(await inLanguage('spoken', 'sv'))).toEqual({
      html: ' lang="en"',
      footer: '<footer>Made with Hoplog</footer>',
      vary: 'Accept-Language',
    });
  });

  test('a language that the page or its workspace has chosen is that of every visitor', async () => {
    const other = await api.addWorkspace();
    const { id, links } = await makeBioPage(other, 'chosen', { title: 'Ada', show_branding: true });
    const until = async (html: string, path = 'chosen') =>
      expect.poll(async () => shown(await inLanguage(path, 'fr')).html).toBe(html);
    await other.patch('/workspace', { language: 'ar' });
    await until(' lang="ar" dir="rtl"');
    expect(shown(await inLanguage('chosen', 'fr')).footer).toBe('<footer>صُنع باستخدام Hoplog</footer>');
    expect(await changeBioPage(other, id, { language: 'ja' })).toMatchObject({ language: 'ja' });
    await until(' lang="ja" dir="ltr"');
    // So do the workspace's other pages.
    const button = links.find(({ short_url }) => short_url !== null);
    await other.patch(`/links/${button?.tracked_link_id}`, { password: 'open sesame' });
    const short = new URL(button?.short_url ?? '').pathname.slice(1);
    const form = async () => (await inLanguage(short, 'fr')).text;
    await expect.poll(form).toContain('<label for="password">كلمة المرور</label>');
    expect(await form()).toContain('<html lang="ar" dir="rtl">');
    await changeBioPage(other, id, { is_published: false });
    await expect.poll(async () => (await inLanguage('chosen', 'fr')).status).toBe(404);
    expect((await inLanguage('chosen', 'fr')).text).toContain('<html lang="ar" dir="rtl">');
    await other.patch('/workspace', { language: null });
    await expect
      .poll(async () => (await inLanguage('chosen', 'fr')).text)
      .toContain('<h1>Lien introuvable</h1>');
  });

  test('pages in place of a redirect say their language, and no cache keeps one for another', async () => {
    for (const [header, lang, title] of [
      ['ar-EG,ar;q=0.9', ' lang="ar" dir="rtl"', 'الرابط غير موجود'],
      ['ja', ' lang="ja" dir="ltr"', 'リンクが見つかりません'],
      ['*', ' lang="en" dir="ltr"', 'Link not found'],
      ['x'.repeat(5_000), ' lang="en" dir="ltr"', 'Link not found'],
    ] as const) {
      const page = await inLanguage('no-such-link', header);
      expect([page.status, shown(page).html]).toEqual([404, lang]);
      expect(page.text).toContain(`<h1>${title}</h1>`);
      expect(page.headers.get('content-language')).toBe(lang.slice(7, 9));
      expect([page.headers.get('vary'), page.headers.get('cache-control')]).toEqual([
        'Accept-Language',
        'no-store',
      ]);
    }
  });
});
