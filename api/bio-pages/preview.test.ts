import { describe, expect } from 'vitest';
import type { PublicPage } from '../../core/bio/public-page.ts';
import { renderBioPage } from '../../core/bio/render.ts';
import { othersWithNames } from '../../sql/links/link-table.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { bioBody, makeBioPage } from '../../test/support/bio.ts';
import { sharedShopTest } from '../../test/support/fixtures.ts';

const ENGLISH = { chosen: null, ofVisitor: 'en' } as const;
const preview = (shop: TestWorkspace, body: object) => shop.post('/bio-pages/preview', body);

describe('POST /bio-pages/preview', () => {
  sharedShopTest('responds with the HTML of the public page, without short links', async ({ api, shop }) => {
    const theme = { canvasMode: 'gradient', canvasValue: 'ocean', cardMode: 'glass', buttonStyle: 'soft' };
    const body = bioBody('seen', { theme, avatar_url: 'https://img.example/a.png' });
    const { links } = await makeBioPage(shop, 'seen', body);
    const [row] = await othersWithNames(api.stores.pool, [{ domainNumber: 0, slug: 'seen' }]);
    const { publicUrl, shortUrl } = api.deps.config;
    const page = row && renderBioPage('seen', row.page as PublicPage, { publicUrl, shortUrl }, ENGLISH);
    let html = page?.html ?? '';
    expect(links.filter((button) => button.short_url && html.includes(button.short_url))).toHaveLength(3);
    for (const { short_url, url } of links) {
      html = html.replace(`href="${short_url}"`, `href="${url?.replaceAll('&', '&#38;')}"`);
    }
    expect((await preview(shop, body)).text).toBe(html);
  });

  sharedShopTest(
    'lets the page do nothing: no script, no form, and a frame of the console alone',
    async ({ shop }) => {
      const { status, headers, text } = await preview(
        shop,
        bioBody('safe', { title: '<script>alert(1)</script>' }),
      );
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      expect(text).not.toContain('<script');
      expect(String(headers['content-security-policy']).split('; ')).toEqual([
        "default-src 'none'",
        expect.stringMatching(/^style-src 'sha256-/),
        'img-src http: https:',
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
        'sandbox',
      ]);
    },
  );

  sharedShopTest('saves nothing', async ({ shop }) => {
    await preview(shop, bioBody('not-kept'));
    expect((await shop.get('/bio-pages/not-kept')).status).toBe(404);
    const free = await shop.get<{ available: boolean }>('/bio-pages/availability?slug=not-kept');
    expect(free.body.available).toBe(true);
  });

  sharedShopTest('shows an empty page, and falls back on its slug for a title', async ({ shop }) => {
    expect((await preview(shop, {})).text).toContain('<h1 dir="auto">your-page</h1>');
    expect((await preview(shop, { slug: 'Ada L' })).text).toContain('<h1 dir="auto">ada-l</h1>');
  });

  sharedShopTest.for([
    ['title', { title: 'x'.repeat(61) }],
    ['links.0.url', { links: [{ label: 'A' }] }],
    ['links.0.url', { links: [{ label: 'A', url: 'javascript:alert(1)' }] }],
    ['avatar_url', { avatar_url: 'data:image/png,x' }],
    ['social_links.0.url', { social_links: [{ platform: 'x', url: 'nowhere' }] }],
    ['theme', { theme: 'dark' }],
  ] as const)('refuses a bad %s as creating the page would', async ([field, body], { shop }) => {
    const answer = await preview(shop, body);
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, field]);
    const created = await shop.post('/bio-pages', { slug: 'bad-page', ...body });
    expect(created.body.error.details?.[0]?.path).toBe(field);
  });

  sharedShopTest('needs a secret key, on any plan', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.post('/bio-pages/preview', {})).status).toBe(200);
    expect((await shop.post('/bio-pages/preview', {}, { key: shop.publishableKey })).status).toBe(403);
  });
});
