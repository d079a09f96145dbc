import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChangeBody, CreateBody } from '../api/bio-pages/schemas.ts';
import type { PublicPage } from '../core/bio/public-page.ts';
import { renderBioPage } from '../core/bio/render.ts';
import { othersWithNames } from '../sql/links/link-table.ts';
import { type TestApi, type TestWorkspace, testApi } from './support/api.ts';
import { makeBioPage } from './support/bio.ts';
import { codePoint } from './support/code-point.ts';
import { NIGHTLY } from './support/nightly.ts';

/**
 * Whatever is sent, the response is never a 5xx, and what is stored renders to a page with one style sheet and no
 * script.
 */

const RUNS = { numRuns: NIGHTLY ? 200 : 80 };
const ORIGINS = { publicUrl: 'https://bio.example', shortUrl: 'https://hop.example' };

let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  await makeBioPage(shop, 'anything');
});
afterAll(() => api.close());

const EVIL = '</style><script>x</script>"\'><img src=x onerror=x>';
const text = fc.oneof(
  fc.constantFrom(
    EVIL,
    '\0',
    '\ud800',
    '😀'.repeat(100),
    '',
    ' ',
    '#fff',
    'sunset',
    'rgb(1,2,3)',
    'red',
    '-->',
  ),
  fc.string({ unit: codePoint }),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.webUrl().map((url) => `${url}/${EVIL.replaceAll(' ', '')}`),
);
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
const themed = fc.record(
  Object.fromEntries(
    [
      'canvasValue',
      'cardBg',
      'textColor',
      'buttonColor',
      'buttonTextColor',
      'buttonShadowColor',
      'footerImage',
      'font',
    ].map((key) => [key, value]),
  ),
  { requiredKeys: [] },
);
const buttons = fc.array(
  fc.record(
    { label: text, url: text, emoji: text, image_url: text, type: fc.constantFrom('link', 'section') },
    { requiredKeys: [] },
  ),
  { maxLength: 3 },
);
/** Each field is anything, or something of its own kind. */
const anyBody = (properties: object, kind: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(
    Object.fromEntries(
      Object.keys(properties).map((name) => [name, kind[name] ? fc.oneof(kind[name], value) : value]),
    ),
    { requiredKeys: [] },
  );
const KINDS = { theme: themed, links: buttons, title: text, bio: text };

test('POST /bio-pages', async () => {
  await fc.assert(
    fc.asyncProperty(anyBody(CreateBody.properties, KINDS), async (body) => {
      expect((await shop.post('/bio-pages', body)).status).toBeLessThan(500);
    }),
    RUNS,
  );
});

test('PATCH /bio-pages/:id, field by field, and the page that comes of it', async () => {
  const field = fc.constantFrom(...Object.keys(ChangeBody.properties));
  const change = fc.tuple(field, anyBody(ChangeBody.properties, KINDS));
  await fc.assert(
    fc.asyncProperty(change, async ([name, body]) => {
      const { status } = await shop.patch('/bio-pages/anything', { is_published: true, [name]: body[name] });
      expect(status).toBeLessThan(500);
      const [row] = await othersWithNames(api.stores.pool, [{ domainNumber: 0, slug: 'anything' }]);
      if (!row?.page) return;
      const html = renderBioPage('anything', row.page as PublicPage, ORIGINS, {
        chosen: null,
        ofVisitor: 'ar',
      }).html;
      expect(html).not.toMatch(/<script|<img src=x/i);
      expect(html.match(/<\/?style>/g)).toHaveLength(2);
    }),
    RUNS,
  );
});

test('GET /bio-pages/availability and /bio-pages/:id', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (slug) => {
      const asked = encodeURIComponent(slug);
      expect((await shop.get(`/bio-pages/availability?slug=${asked}`)).status).toBeLessThan(500);
      expect((await shop.get(`/bio-pages/${asked}`)).status).toBeLessThan(500);
    }),
    RUNS,
  );
});
