import fc from 'fast-check';
import { expect } from 'vitest';
import { codePoint } from '../../test/support/code-point.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { campaign, createLink } from '../../test/support/links.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import { ChangeBody, CreateBody, ListQuery } from './schemas.ts';

/** No input may cause a 5xx. fast-check prints the seeds of failures. */

const RUNS = { numRuns: NIGHTLY ? 400 : 150 };

let linkId: string;

test.beforeAll(async ({ shop }) => {
  const { first } = await createLink(shop, campaign());
  linkId = first.id;
});

const nasty = fc.constantFrom<unknown>(
  '\0',
  '\ud800',
  '𝒳'.repeat(300),
  "'; DROP TABLE links; --",
  '{}',
  '%00',
  '../../etc/passwd',
  -1,
  2 ** 31,
  2 ** 53,
  1e308,
  -0,
  '9999-12-31T23:59:59.999999999-23:59',
  '0000-01-01',
  'https://[::1',
  'https://xn--/',
  'http://localhost:99999',
  `https://a.example/${'x'.repeat(5_000)}`,
);
const value = fc.oneof(nasty, fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: codePoint }), fc.webUrl());
const bodyOf = (schema: { properties: object }) =>
  fc.record(Object.fromEntries(Object.keys(schema.properties).map((name) => [name, value])), {
    requiredKeys: [],
  });

test('POST /links', async ({ shop }) => {
  const body = bodyOf(CreateBody).map((fields) => ({ ...campaign(), ...fields }));
  await fc.assert(
    fc.asyncProperty(body, async (given) => {
      expect((await shop.post('/links', given)).status).toBeLessThan(500);
    }),
    RUNS,
  );
});

test('POST /links with any value in one field', async ({ shop }) => {
  const one = fc.tuple(fc.constantFrom(...Object.keys(CreateBody.properties)), value);
  await fc.assert(
    fc.asyncProperty(one, async ([name, given]) => {
      expect((await shop.post('/links', { ...campaign(), [name]: given })).status).toBeLessThan(500);
    }),
    RUNS,
  );
});

test('POST /links/bulk', async ({ shop }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(value, bodyOf(CreateBody)), { maxLength: 5 }), async (links) => {
      expect((await shop.post('/links/bulk', { links })).status).toBeLessThan(500);
    }),
    { numRuns: NIGHTLY ? 100 : 40 },
  );
});

test('PATCH /links/:id', async ({ shop }) => {
  await fc.assert(
    fc.asyncProperty(bodyOf(ChangeBody), async (body) => {
      expect((await shop.patch(`/links/${linkId}`, body)).status).toBeLessThan(500);
    }),
    RUNS,
  );
});

test('GET /links in both views', async ({ shop }) => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    nasty.map(String),
    fc.constantFrom('%00', '%ff', '%'),
  );
  const names = Object.keys(ListQuery.properties).filter((name) => name !== 'view');
  const query = fc.record(Object.fromEntries(names.map((name) => [name, text])), { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(query, fc.boolean(), async (given, records) => {
      const parts = Object.entries(given).map(([name, part = '']) => {
        const encoded = part.includes('%')
          ? part.replaceAll(' ', '+')
          : encodeURIComponent(part.toWellFormed());
        return `${name}=${encoded}`;
      });
      const path = `/links?${[...(records ? ['view=records'] : []), ...parts].join('&')}`;
      expect((await shop.get(path)).status).toBeLessThan(500);
    }),
    RUNS,
  );
});

test('any text as an id', async ({ shop }) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (id) => {
      const path = `/links/${encodeURIComponent(id.toWellFormed())}`;
      for (const answer of [await shop.get(path), await shop.patch(path, {}), await shop.delete(path)]) {
        expect(answer.status).toBeLessThan(500);
      }
    }),
    { numRuns: NIGHTLY ? 100 : 40 },
  );
});
