import { expect, test } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest } from '../../test/support/fixtures.ts';
import { openObjects } from './body-fields.ts';

const ignoredBy = async (shop: TestWorkspace, path: string, body: unknown) => {
  const answer = await shop.post(path, body);
  return [answer.status, answer.headers['x-ignored-fields']];
};

sharedShopTest(
  'unknown body fields are named in x-ignored-fields, nested ones with their path',
  async ({ shop }) => {
    expect(await ignoredBy(shop, '/folders', { name: 'A', colour: 'red', 'x,y\n': 1 })).toEqual([
      201,
      'colour, x%2Cy%0A',
    ]);
    const button = { label: 'Shop', url: 'https://shop.example/', tracked: true };
    expect(
      await ignoredBy(shop, '/bio-pages', { slug: 'ignored', links: [button], theme: { any: 1 } }),
    ).toEqual([201, 'links.0.tracked, theme.any']);
    const link = { destination_url: 'https://shop.example/', name: 'A', smart: true, external: true };
    const card = { title: 'A', bar: 1 };
    expect(
      await ignoredBy(shop, '/links/bulk', { links: [{ ...link, foo: 1, preview: card }, link] }),
    ).toEqual([200, 'links.0.foo, links.0.preview.bar']);
    // A misspelled field is refused.
    const slip = await shop.post('/bio-pages', { slug: 'slip', theme: { buttonColour: '#ff0000' } });
    expect([slip.status, slip.body.error.details?.[0]?.path]).toEqual([400, 'theme.buttonColour']);
  },
);

sharedShopTest(
  'rules and conditions of links refuse unknown fields, and variants name them',
  async ({ shop }) => {
    const [destination_url, other] = ['https://shop.example/', 'https://shop.example/b'];
    const condition = { type: 'country', operator: 'is', values: ['DE'] };
    const rule = { conditions: [condition], destination_url: other };
    const faults = async (fields: object) => {
      const link = { destination_url, name: 'A', smart: true, external: true, ...fields };
      const { status, body } = await shop.post('/links', link);
      return [status, ...(body.error.details ?? []).map(({ path, hint }) => `${path}: ${hint}`)];
    };
    const misspelled = { conditions: [{ ...condition, value: ['DE'] }], destinationUrl: other };
    expect(await faults({ rules: [rule, misspelled] })).toEqual([
      400,
      'rules.1.conditions.0.value: did you mean `values`?',
      'rules.1.destinationUrl: did you mean `destination_url`?',
    ]);
    expect(await faults({ rules: [{ ...rule, colour: 1 }] })).toEqual([
      400,
      'rules.0.colour: it has id, name, conditions, destination_url',
    ]);
    expect(await faults({ split: [{ destination_url, wieght: 1 }] })).toEqual([
      400,
      'split.0.wieght: did you mean `weight`?',
    ]);
    const split = [
      { destination_url, weight: 1, label: 'A' },
      { destination_url: other, weight: 1 },
    ];
    const made = await shop.post('/links', {
      destination_url,
      name: 'A',
      smart: true,
      external: true,
      split,
    });
    expect([made.status, made.headers['x-ignored-fields']]).toEqual([201, 'split.0.label']);
  },
);

test('an object of a body that drops unknown fields without a word is found in its schema', () => {
  const open = { type: 'object', properties: { name: { type: 'string' } } };
  const rules = { type: ['array', 'null'], items: open };
  const either = { anyOf: [{ ...open, additionalProperties: false }, { type: 'null' }] };
  const fields = {
    rules,
    either,
    metadata: { type: 'object' },
    free: { ...open, additionalProperties: true },
  };
  const schema = { type: 'object', properties: fields, additionalProperties: false };
  expect(openObjects(schema)).toEqual(['body.rules.0', 'body.either']);
});

sharedShopTest(
  'a body with known fields only gets no header, and neither does one that is not an object',
  async ({ shop }) => {
    expect(await ignoredBy(shop, '/folders', { name: 'B' })).toEqual([201, undefined]);
    expect(await ignoredBy(shop, '/folders', ['name'])).toEqual([400, undefined]);
  },
);

sharedShopTest('at most 20 names are in the header, each at most 200 characters long', async ({ shop }) => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${i}${'é'.repeat(100)}`, 1]));
  const [status, header] = await ignoredBy(shop, '/folders', { name: 'C', ...many });
  const names = String(header).split(', ');
  expect([status, names.length]).toEqual([201, 20]);
  expect(Math.max(...names.map((name) => name.length))).toBe(200);
});

sharedShopTest('inherited names of objects are unknown fields too', async ({ api, shop }) => {
  const response = await api.app.inject({
    method: 'POST',
    url: '/api/v1/folders',
    headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' },
    payload: '{"name":"D","constructor":1,"toString":2}',
  });
  expect([response.statusCode, response.headers['x-ignored-fields']]).toEqual([201, 'constructor, toString']);
});
