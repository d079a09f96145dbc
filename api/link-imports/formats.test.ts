import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fixture, type ImportTarget, importTarget } from '../../test/support/link-imports.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';

let stores: TestStores;
let target: ImportTarget;

beforeAll(async () => {
  stores = await testStores();
});
beforeEach(async () => {
  target = await importTarget(stores);
});
afterAll(() => stores.close());

/** What became of a fixture: each link as slug, name and destination, and each error as line and column. */
async function imported(name: string) {
  const result = await target.importRows(await fixture(name));
  return {
    links: (await target.links()).map((link) => [link.slug, link.name, link.destination_url]),
    errors: result.errors.map(({ line, column }) => [line, column]),
  };
}

describe('an export of', () => {
  test('Bitly (CSV with the names of the API) keeps back-halves, titles and tags', async () => {
    expect(await imported('bitly.csv')).toEqual({
      links: [
        ['3xYzAb1', 'Spring landing page', 'https://shop.example/spring?ref=mail'],
        ['catalogue', 'shop.example/catalogue', 'https://shop.example/catalogue'],
      ],
      errors: [[4, 'long_url']],
    });
    expect((await target.links())[0]?.tags).toEqual(['marketing', 'launch']);
  });

  test('Bitly (CSV of the dashboard, with semicolons and a byte order mark)', async () => {
    expect(await imported('bitly-dashboard.csv')).toEqual({
      links: [
        ['cafe', 'Café "No 1"', 'https://shop.example/caf%C3%A9'],
        ['3RrRrRr', 'Plain', 'https://shop.example/plain'],
      ],
      errors: [],
    });
    expect((await target.links())[0]?.tags).toEqual(['menu', 'paris']);
  });

  test('Bitly (JSON) keeps every custom back-half as a link of its own', async () => {
    const name = 'Custom "back-half" {and braces}';
    expect(await imported('bitly.json')).toEqual({
      links: [
        ['my-custom-url', name, 'https://shop.example/custom'],
        ['second', name, 'https://shop.example/custom'],
      ],
      errors: [],
    });
  });

  test('Dub (CSV)', async () => {
    expect(await imported('dub.csv')).toEqual({
      links: [['launch', 'shop.example/launch', 'https://shop.example/launch']],
      errors: [[3, 'Short link']], // a slash in the slug
    });
    expect((await target.links())[0]?.tags).toEqual(['launch', 'press']);
  });

  test('Dub (JSON) keeps expiry, password, external id, channel and the supported targeting', async () => {
    await target.importRows(await fixture('dub.json'));
    const [app, onlyUrl] = await target.links();
    expect(app).toMatchObject({
      slug: 'get-app',
      name: 'Get the app',
      external_id: 'app-1',
      channel: 'twitter',
      utm_campaign: 'app-launch',
      expires_at: '2031-06-01T00:00:00.000000Z',
      expired_redirect_url: 'https://shop.example/gone',
      password_hash: expect.stringMatching(/^scrypt\$/),
      targeting: { mobile: 'https://m.shop.example/app' },
      tags: ['app', 'launch'],
    });
    expect(onlyUrl).toMatchObject({ slug: 'stores', channel: 'other', targeting: null, password_hash: null });
  });

  test('YOURLS (its table, and the plugin)', async () => {
    expect(await imported('yourls.csv')).toEqual({
      links: [
        ['ozh', 'The "Ozh" page', 'https://shop.example/ozh?a=1&b=2'],
        ['1a', 'shop.example/no-title', 'https://shop.example/no-title'],
      ],
      errors: [[4, 'url']],
    });
    expect((await imported('yourls-plugin.csv')).links.slice(2)).toEqual([
      ['plugin', 'shop.example/plugin', 'https://shop.example/plugin'],
      ['comma', 'shop.example/a,b', 'https://shop.example/a,b'],
    ]);
  });

  test('Shlink (CSV of the web client, and the form that it imports)', async () => {
    expect(await imported('shlink.csv')).toEqual({
      links: [
        ['abc123', 'A page, with a comma', 'https://shop.example/shlink'],
        ['untitled', 'shop.example/untitled', 'https://shop.example/untitled'],
      ],
      errors: [],
    });
    await target.importRows(await fixture('shlink-import.csv'));
    expect((await target.links()).at(-1)).toMatchObject({ slug: 'standard', tags: ['foo', 'bar', 'baz'] });
  });

  test('Shlink (JSON) keeps expiry and visits; a link that begins later is refused', async () => {
    const { errors } = await target.importRows(await fixture('shlink.json'));
    expect(errors).toMatchObject([{ column: 'meta.validSince' }]);
    expect(await target.links()).toMatchObject([
      { slug: '12C18', name: 'Store', expires_at: '2031-01-20T22:00:00.000000Z', max_clicks: 100 },
    ]);
  });

  test.each(['kutt.json', 'kutt.csv'])('Kutt (%s) is never without a password that it had', async (name) => {
    const result = await target.importRows(await fixture(name));
    expect(result.created).toBe(1);
    expect(await target.links()).toMatchObject([{ expires_at: '2031-02-01T12:00:00.000000Z' }]);
    expect(result.errors[0]).toMatchObject({ column: 'password', row: { password: '***' } });
    expect(JSON.stringify(result.errors)).not.toContain('$2a$');
  });
});
