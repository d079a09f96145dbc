import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { csv, fixture, type ImportTarget, importTarget } from '../../test/support/link-imports.ts';
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
    errors: result.errors.map(({ line, field }) => [line, field]),
  };
}

describe('an export of', () => {
  test('Bitly (CSV with the names of the API) keeps back-halves, titles and tags', async () => {
    expect(await imported('bitly.csv')).toEqual({
      links: [
        ['3xYzAb1', 'Spring landing page', 'https://shop.example/spring?ref=mail'],
        ['catalogue', 'shop.example/catalogue', 'https://shop.example/catalogue'],
        ['5Old', 'Old page', 'http://shop.example/old'],
      ],
      errors: [],
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
      errors: [[3, 'Short link']], // a dot in the slug
    });
    expect((await target.links())[0]?.tags).toEqual(['launch', 'press']);
  });

  test('Dub (JSON) keeps expiry, password, external id, channel, targeting, countries and tests', async () => {
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
      targeting: null,
      tags: ['app', 'launch'],
    });
    const app_page = 'https://m.shop.example/app';
    expect(app?.rules?.map(({ conditions, destination_url }) => [conditions[0], destination_url])).toEqual([
      [{ type: 'os', operator: 'is', values: ['ios'] }, app_page],
      [{ type: 'os', operator: 'is', values: ['android'] }, app_page],
      [{ type: 'country', operator: 'is', values: ['DE'] }, 'https://shop.example/de'],
    ]);
    expect(onlyUrl).toMatchObject({
      slug: 'stores',
      channel: 'other',
      targeting: { ios: 'https://apps.apple.com/app', android: 'https://play.google.com/app' },
      split: [
        { id: 'a', destination_url: 'https://shop.example/stores', weight: 60 },
        { id: 'b', destination_url: 'https://shop.example/stores-b', weight: 40 },
      ],
      split_ends_at: '2097-01-01T00:00:00.000000Z',
      split_goal: 'leads',
      password_hash: null,
    });
  });

  test('YOURLS (its table, and the plugin)', async () => {
    expect(await imported('yourls.csv')).toEqual({
      links: [
        ['ozh', 'The "Ozh" page', 'https://shop.example/ozh?a=1&b=2'],
        ['1a', 'shop.example/no-title', 'https://shop.example/no-title'],
        ['page', 'Not secure', 'http://shop.example/insecure'],
      ],
      errors: [],
    });
    expect((await imported('yourls-plugin.csv')).links.slice(3)).toEqual([
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

  test('Shlink (JSON) keeps start, expiry, visits and rules', async () => {
    const { errors } = await target.importRows(await fixture('shlink.json'));
    expect(errors).toEqual([]);
    const [first, second] = await target.links();
    expect(first).toMatchObject({
      slug: '12C18',
      name: 'Store',
      starts_at: '2017-01-20T22:00:00.000000Z',
      expires_at: '2031-01-20T22:00:00.000000Z',
      max_clicks: 72, // less those visits that it has had
    });
    expect(second).toMatchObject({ slug: 'later', starts_at: '2097-01-20T22:00:00.000000Z' });
    expect(second?.rules?.map(({ conditions, destination_url }) => [conditions, destination_url])).toEqual([
      [
        [
          { type: 'os', operator: 'is', values: ['ios'] },
          { type: 'query', operator: 'exists', name: 'app' },
        ],
        'myapp://later',
      ],
      [[{ type: 'language', operator: 'is', values: ['de'] }], 'https://shop.example/spaeter'],
    ]);
  });

  test('Rebrandly, TinyURL and a plain list', async () => {
    for (const name of ['rebrandly.csv', 'tinyurl.json', 'plain.csv']) {
      target = await importTarget(stores);
      const { errors } = await target.importRows(await fixture(name));
      expect([name, errors]).toEqual([name, []]);
      const links = (await target.links()).map(({ slug, name, destination_url }) => [
        slug,
        name,
        destination_url,
      ]);
      const expected = {
        'rebrandly.csv': [['spring', 'Spring', 'https://shop.example/spring']],
        'tinyurl.json': [['spring', 'shop.example/spring', 'https://shop.example/spring']],
        'plain.csv': [
          ['one', 'shop.example/one', 'http://shop.example/one'],
          ['two', 'shop.example/two', 'https://shop.example/two'],
        ],
      };
      expect(links).toEqual(expected[name as keyof typeof expected]);
    }
  });

  test('Short.io (JSON) keeps targets, split, status and limits, and no link whose password it lacks', async () => {
    const { errors } = await target.importRows(await fixture('short-io.json'));
    expect(errors).toMatchObject([{ field: 'password' }]);
    expect(await target.links()).toMatchObject([
      {
        slug: 'one',
        expires_at: '2031-01-01T00:00:00.000000Z',
        expired_redirect_url: 'https://shop.example/over',
        targeting: { ios: 'https://apps.example/ios' },
        split: [
          { destination_url: 'https://shop.example/one', weight: 70 },
          { destination_url: 'https://shop.example/two', weight: 30 },
        ],
        redirect_status: 307,
        max_clicks: 100,
        forward_query: false,
        archived: true,
      },
    ]);
  });

  test('Short.io and TinyURL (CSV), with quoted values, and a stray quote that costs its own row', async () => {
    const shortIo = await target.importRows(
      csv(
        'path,originalURL,title,tags,splitURL,splitPercent,skipQS',
        'sa,https://shop.example/a,"Say ""hi"", all","x,y",https://shop.example/b,30,true',
        'sb,https://shop.example/b,5" screen,,,,',
        'sc,https://shop.example/c,,,,,',
      ),
    );
    expect([shortIo.read, shortIo.errors.map(({ line, field }) => [line, field])]).toEqual([3, [[3, null]]]);
    const tinyUrl = await target.importRows(
      csv(
        'tiny_url,url,alias,tags,expires_at,archived',
        'https://tinyurl.com/ta,http://shop.example/t,,"x,y",2031-01-01T00:00:00Z,true',
      ),
    );
    expect(tinyUrl).toMatchObject({ read: 1, created: 1, errors: [] });
    expect(await target.links()).toMatchObject([
      {
        slug: 'sa',
        name: 'Say "hi", all',
        tags: ['x', 'y'],
        forward_query: false,
        split: [{ weight: 70 }, { destination_url: 'https://shop.example/b', weight: 30 }],
      },
      { slug: 'sc', name: 'shop.example/c', split: null, forward_query: true },
      {
        slug: 'ta',
        destination_url: 'http://shop.example/t',
        tags: ['x', 'y'],
        expires_at: '2031-01-01T00:00:00.000000Z',
        archived: true,
      },
    ]);
  });

  test('YOURLS (JSON of its API, and mysql --batch with quotes and escapes in titles)', async () => {
    expect(await imported('yourls.json')).toEqual({
      links: [
        ['1f', 'A "page"', 'http://shop.example/a'],
        ['2g', 'shop.example/b', 'https://shop.example/b'],
      ],
      errors: [],
    });
    const result = await target.importRows(await fixture('yourls.tsv'));
    expect(result).toMatchObject({ read: 4, created: 4, errors: [] });
    expect((await target.links()).slice(2).map(({ slug, name }) => [slug, name])).toEqual([
      ['q1', '"Quoted" title'],
      ['q2', '"Open quote'],
      ['q3', 'A tab and a back\\slash'],
      ['q4', 'shop.example/4'],
    ]);
  });

  test('Kutt (JSON) is never without a password that it had', async () => {
    const result = await target.importRows(await fixture('kutt.json'));
    expect(result.created).toBe(1);
    expect(await target.links()).toMatchObject([{ expires_at: '2031-02-01T12:00:00.000000Z' }]);
    expect(result.errors[0]).toMatchObject({
      link: 'secret',
      field: 'password',
      message: expect.stringMatching(/^the link has a password/),
      row: { password: '***' },
    });
  });

  test('Kutt (its table) keeps the hash of a password, and tells it to no one', async () => {
    const result = await target.importRows(await fixture('kutt.csv'));
    expect(result).toMatchObject({ created: 2, errors: [] });
    expect((await target.links()).map((link) => link.password_hash?.slice(0, 7))).toEqual([
      undefined,
      '$2a$10$',
    ]);
  });
});
