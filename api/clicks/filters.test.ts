import { expect } from 'vitest';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { createLink } from '../../test/support/links.ts';
import { type GivenClick, NO_UUID, storeClicks } from '../../test/support/stored-events.ts';

let tagged: string;

/** What each click of the tests is named by: its city. */
const CLICKS: Omit<GivenClick, 'workspaceId'>[] = [
  {
    city: 'Bonn',
    country: 'DE',
    os: 'Android',
    browser: 'Chrome',
    columns: { utm_term: 'shoes, red', device: 'mobile', asn: 3320, language: 'iw' },
  },
  {
    city: 'Wien',
    country: 'AT',
    columns: {
      utm_term: 'Red Shoes',
      device: 'desktop',
      referer_host: 't.co',
      region: 'AT-9',
      continent: 'EU',
      language: 'he',
    },
  },
  {
    city: 'Paris',
    country: 'FR',
    columns: { utm_term: '', device: 'mobile', referer_host: 'xn----8sbbih2bv0a.example', language: 'nb' },
  },
  { city: '', country: '', columns: { utm_term: 'hats', device: 'tablet', language: 'no' } },
];

test.beforeAll(async ({ api, shop }) => {
  const link = { destination_url: 'https://shop.example/', name: 'Sale', channel: 'facebook' };
  tagged = (await createLink(shop, { ...link, tags: ['autumn', 'Grüße aus Weiß'] })).first.id;
  const workspaceId = shop.workspace.id;
  await storeClicks(api.stores, [
    ...CLICKS.map((click) => ({ workspaceId, ...click })),
    {
      workspaceId,
      city: 'Graz',
      country: 'AT',
      // Of an import: the parser of user agents has no such name.
      browser: 'Lightpanda',
      linkId: tagged,
      columns: { device: 'desktop', language: 'nn', utm_term: 'Große Straße, Οδός İzmir' },
    },
    { workspaceId, city: 'Nowhere', linkId: NO_UUID },
  ]);
});

const encoded = (filters: unknown) => encodeURIComponent(JSON.stringify(filters));

test.for([
  ['country=DE,AT', ['Bonn', 'Graz', 'Wien']],
  ['not_country=DE,AT', ['', 'Paris']],
  ['country=', ['']],
  ['country=FR,', ['', 'Paris']],
  ['country=de,aT', ['Bonn', 'Graz', 'Wien']],
  ['device=MOBILE', ['Bonn', 'Paris']],
  ['os=ANDROID', ['Bonn']],
  ['browser=chrome', ['Bonn']],
  ['browser=LIGHTPANDA', ['Graz']],
  ['referer_host=T.CO', ['Wien']],
  [`referer_host=${encodeURIComponent('Блог-сад.example')}`, ['Paris']],
  ['region=at-9&continent=eu', ['Wien']],
  // Old codes, and languages within a macrolanguage, are one language.
  ['language=he', ['Bonn', 'Wien']],
  ['language=IW', ['Bonn', 'Wien']],
  ['language=heb', ['Bonn', 'Wien']],
  ['not_language=iw', ['', 'Graz', 'Paris']],
  ['language=no', ['', 'Graz', 'Paris']],
  ['language=nb', ['', 'Paris']],
  ['language=nn', ['Graz']],
  ['asn=AS3320', ['Bonn']],
  ['not_country=FR,', ['Bonn', 'Graz', 'Wien']],
  ['country=DE,AT&not_device=desktop', ['Bonn']],
  ['asn=3320', ['Bonn']],
  ['not_asn=', ['Bonn']],
  ['utm_term=shoes%5C,%20red,hats', ['', 'Bonn']],
  ['tag=autumn', ['Graz']],
  ['not_tag=autumn', ['', 'Bonn', 'Paris', 'Wien']],
  ['tag=', ['', 'Bonn', 'Paris', 'Wien']],
  ['not_tag=', ['Graz']],
  ['orphans=only', ['Nowhere']],
  [
    `filters=${encoded([{ dimension: 'utm_term', operator: 'contains', values: ['shoes'] }])}`,
    ['Bonn', 'Wien'],
  ],
  ...['GROSSE STRASSE', 'straße', 'große', 'ΟΔΌΣ', 'οδόσ', 'οδός', 'İZ', 'i̇z', 'ras'].map(
    (text): [string, string[]] => [
      `filters=${encoded([{ dimension: 'utm_term', operator: 'contains', values: [text] }])}`,
      ['Graz'],
    ],
  ),
  [
    `filters=${encoded([{ dimension: 'tag', operator: 'contains', values: ['GRÜSSE AUS WEISS'] }])}`,
    ['Graz'],
  ],
  [
    `filters=${encoded([{ dimension: 'utm_term', operator: 'contains_not', values: ['STRASSE'] }])}`,
    ['', 'Bonn', 'Paris', 'Wien'],
  ],
  [
    `filters=${encoded([
      {
        any: [
          { dimension: 'city', operator: 'is_empty' },
          { dimension: 'tag', operator: 'is', values: ['autumn'] },
        ],
      },
    ])}`,
    ['', 'Graz'],
  ],
])('clicks and their export keep to %s', async ([query, cities], { shop }) => {
  const { body } = await shop.get<{ clicks: { city: string }[] }>(`/clicks?${query}`);
  expect(body.clicks.map(({ city }) => city).sort()).toEqual(cities);
  const file = await shop.get(`/clicks/export?format=ndjson&${query}`);
  const lines = file.text.split('\n').filter((line) => line !== '');
  expect(lines.map((line) => (JSON.parse(line) as { city: string }).city).sort()).toEqual(cities);
});

test('a visit that led to no link has no link_id, in the API and in each file', async ({ shop }) => {
  const { body } = await shop.get<{ clicks: { link_id: string | null }[] }>('/clicks?orphans=only');
  expect(body.clicks.map(({ link_id }) => link_id)).toEqual([null]);
  const file = async (format: string) =>
    (await shop.get(`/clicks/export?format=${format}&orphans=only`)).text.trim().split('\n');
  expect(JSON.parse((await file('ndjson'))[0] ?? '')).toMatchObject({ link_id: null, city: 'Nowhere' });
  const [head = '', row = ''] = await file('csv');
  expect(row.split(',')[head.split(',').indexOf('"link_id"')]).toBe('');
});

test.for([
  ['colour=red', 'colour'],
  ['channel=myspace', 'channel'],
  ['country=Germany', 'country'],
  ['country=XX', 'country'],
  ['continent=Europe', 'continent'],
  ['region=US-ZZ', 'region'],
  ['region=ES-M', 'region'],
  ['device=phone', 'device'],
  ['language=German', 'language'],
  ['browser=Foo', 'browser'],
  ['not_browser=Chrome,Foo', 'not_browser'],
  ['os=Foo', 'os'],
  [
    `filters=${encoded([{ any: [{ dimension: 'browser', operator: 'is', values: ['Chrome', 'foo'] }] }])}`,
    'filters.0.any.0.values.1',
  ],
  ['weekday=Monday', 'weekday'],
  ['weekday=0', 'weekday'],
  ['not_hour_of_day=24', 'not_hour_of_day'],
  ['ad_network=bing', 'ad_network'],
  ['rule=a b', 'rule'],
  [`filters=${encoded([{ dimension: 'weekday', operator: 'is', values: [1, 8] }])}`, 'filters.0.values.1'],
  ['trigger=nfc', 'trigger'],
  ['campaign=x', 'campaign'],
  ['asn=x', 'asn'],
  ['filters=x', 'filters'],
  [`filters=${encoded([{ dimension: 'color', operator: 'is', values: ['x'] }])}`, 'filters.0.dimension'],
  [`filters=${encoded([{ dimension: 'time:day', operator: 'is', values: ['2026-11-20'] }])}`, 'filters'],
])('a refusal of %s names the parameter', async ([query, path], { shop }) => {
  const { status, body } = await shop.get(`/clicks?${query}`);
  expect([status, body.error?.details?.[0]?.path]).toEqual([400, path]);
});

test('a code that is no country names what is meant', async ({ shop }) => {
  const { body } = await shop.get('/clicks?country=DE,UK');
  expect(body.error?.message).toBe('`country` must be a code of ISO 3166-1, such as DE; did you mean GB?');
});

test('a browser that no click can have is refused with the list', async ({ shop }) => {
  const { body } = await shop.get('/clicks?browser=Foo');
  expect(body.error?.message).toMatch(/^`browser` must be one of .*Chrome, .*Firefox, .*, Other$/);
});
