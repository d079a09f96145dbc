import { afterAll, expect } from 'vitest';
import type { LinkRecord } from '../../api/links/schemas.ts';
import type { TestWorkspace } from '../support/api.ts';
import { sharedShopTest as test } from '../support/fixtures.ts';
import { startTestIngest, type TestIngest } from '../support/ingest.ts';
import { PHONE, PREVIEW, visit, visitNew } from '../support/visitors.ts';

type Imported = {
  dry_run: boolean;
  created: number;
  skipped: number;
  unknown_columns: string[];
  errors: { line: number; index: number; link: string | null; field: string | null; message: string }[];
};

let ingest: TestIngest;

test.beforeAll(async ({ api }) => {
  ingest = await startTestIngest(api.stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
});

async function imported(shop: TestWorkspace, file: string | object, more: object = {}): Promise<Imported> {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  const answer = await shop.post<Imported>('/links/import', { text, unproven: 'move', ...more });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

async function link(shop: TestWorkspace, slug: string): Promise<LinkRecord | undefined> {
  const path = `/links?view=records&archived=include&slug=${slug}`;
  return (await shop.get<{ links: LinkRecord[] }>(path)).body.links.find((one) => one.slug === slug);
}

const status = async (slug: string) => (await visit(`${ingest.url}/${slug}`)).status;
const to = (slug: string) => `https://shop.example/${slug}`;

test('what was switched off elsewhere is an error that names the column, and does not redirect here', async ({
  shop,
}) => {
  const off: [slug: string, field: string, file: string | object][] = [
    [
      'off1',
      'disabledAt',
      [{ domain: 'dub.sh', key: 'off1', url: to('off1'), disabledAt: '2026-01-01T00:00:00.000Z' }],
    ],
    [
      'off2',
      'is_deleted',
      [{ id: 'bit.ly/off2', link: 'https://bit.ly/off2', long_url: to('off2'), is_deleted: true }],
    ],
    ['off3', 'banned', `address,target,banned\noff3,${to('off3')},t\n`],
    ['off4', 'status', [{ slashtag: 'off4', destination: to('off4'), status: 'deleted' }]],
    ['off5', 'Active', `slug,url,Active\noff5,${to('off5')},no\n`],
    ['off6', 'enabled', [{ slug: 'off6', url: to('off6'), enabled: false }]],
    ['off7', 'maxVisits', [{ shortCode: 'off7', longUrl: to('off7'), maxVisits: 5, visits: 9 }]],
    ['off8', 'hasRedirectRules', [{ shortCode: 'off8', longUrl: to('off8'), hasRedirectRules: true }]],
    ...['disabled', 'inactive', 'paused', 'blocked', 'Deleted', 'switched_off'].flatMap(
      (value, nth): [string, string, string | object][] => [
        [
          `own${nth}`,
          'Status',
          `destination_url,name,slug,Status\n${to(`own${nth}`)},Own,own${nth},${value}\n`,
        ],
        [
          `json${nth}`,
          'state',
          [{ destination_url: to(`json${nth}`), name: 'Own', slug: `json${nth}`, state: value }],
        ],
      ],
    ),
    ['in1', 'settings.disabled', [{ slug: 'in1', url: to('in1'), settings: { disabled: true } }]],
    ['in2', 'meta.state.active', [{ slug: 'in2', url: to('in2'), meta: { state: { active: false } } }]],
    ['in3', 'banned.reason', [{ slug: 'in3', url: to('in3'), banned: { reason: 'spam' } }]],
    ['in4', 'deleted.at', [{ slug: 'in4', url: to('in4'), deleted: { at: '2024-01-01' } }]],
    ['in5', 'options.status', `slug,url,options\nin5,${to('in5')},"{""status"":""paused""}"\n`],
    [
      'in6',
      'Limits.MaxClicks',
      [{ slug: 'in6', url: to('in6'), Limits: { MaxClicks: 3 }, meta: { clicks: 3 } }],
    ],
    ['in7', 'expiration', [{ slug: 'in7', url: to('in7'), expiration: { whenever: 'soon' } }]],
    [
      'in8',
      'meta.hasRedirectRules',
      [{ shortCode: 'in8', longUrl: to('in8'), meta: { hasRedirectRules: true } }],
    ],
    ['in9', 'state.name', [{ slug: 'in9', url: to('in9'), state: { name: 'disabled' } }]],
    ['in10', 'Status.Code', [{ slug: 'in10', url: to('in10'), Status: { Code: 'BANNED' } }]],
    ['in11', 'hasRules', [{ slug: 'in11', url: to('in11'), hasRules: true, rules: [{ if: 'de' }] }]],
    ['in12', 'redirectRules', `shortCode,longUrl,redirectRules\nin12,${to('in12')},some\n`],
    ['in13', 'is_link_active', [{ slug: 'in13', url: to('in13'), is_link_active: 'off' }]],
    ['in14', 'disabled_reason', `slug,url,disabled_reason\nin14,${to('in14')},abuse\n`],
    ['in15', 'meta.status', `slug,url,meta.status\nin15,${to('in15')},inactive\n`],
    ['over1', 'status', `slug,url,status\nover1,${to('over1')},expired\n`],
    ['over2', 'status', [{ slug: 'over2', url: to('over2'), status: 'expired', expires_at: '2999-01-01' }]],
  ];
  for (const [slug, field, file] of off) {
    const { created, errors } = await imported(shop, file);
    expect([slug, created, errors]).toMatchObject([
      slug,
      0,
      [{ link: expect.stringContaining(slug), field }],
    ]);
    expect(await status(slug)).toBe(404);
  }
});

test("the console's export brings no link back that was used up, and each that has expired stays so", async ({
  shop,
}) => {
  for (const [nth, clicks] of ['0', ''].entries()) {
    const used = `used${nth}`;
    const text = `destination_url,name,slug,max_clicks,status,clicks\n${to(used)},Used,${used},10,used_up,${clicks}\n`;
    expect(await imported(shop, text)).toMatchObject({
      created: 0,
      errors: [{ link: used, field: 'status', message: expect.stringMatching(/used up there/) }],
    });
    expect(await status(used)).toBe(404);
  }
  const text = `destination_url,name,slug,expires_at,status\n${to('past')},Past,past,2020-01-01T12:00:00Z,expired\n${to('live')},Live,live,,active\n`;
  expect(await imported(shop, text)).toMatchObject({ created: 2, errors: [], unknown_columns: [] });
  await expect.poll(() => status('past')).toBe(410);
  expect((await visitNew(`${ingest.url}/live`)).location?.pathname).toBe('/live');
});

test('an end is taken over, whatever its column is called and however its time is written', async ({
  shop,
}) => {
  const ends: [name: string, value: string | number][] = [
    ['expires_at', '2020-01-01 12:00:00'],
    ['expiration_date', '2020-01-01T12:00:00Z'],
    ['validUntil', '2020-01-01T14:00:00+02:00'],
    ['expiredAt', 1_577_880_000_000],
    ['expiration', 1_577_880_000],
    ['ttl', 1_577_880_000_000],
    ['expiration_at', '2020-01-01 12:00:00'],
    ['EXPIRE_DATE', '2020-01-01T12:00:00Z'],
    ['expires on', '2020-01-01T12:00:00Z'],
    ['validTill', '2020-01-01T12:00:00Z'],
    ['valid_thru', '2020-01-01T12:00:00Z'],
    ['active_until', '2020-01-01T12:00:00Z'],
    ['Gültig bis', '2020-01-01T12:00:00Z'],
    ['link expiration', '2020-01-01T12:00:00Z'],
    ['expires_on_date', '2020-01-01T12:00:00Z'],
  ];
  for (const [nth, [name, value]] of ends.entries()) {
    const slug = `end${nth}`;
    expect(await imported(shop, [{ slug, url: to(slug), [name]: value }])).toMatchObject({
      created: 1,
      errors: [],
      unknown_columns: [],
    });
    expect(await link(shop, slug)).toMatchObject({ expires_at: '2020-01-01T12:00:00.000Z' });
    await expect.poll(() => status(slug)).toBe(410);
  }
  const inside: [slug: string, more: object][] = [
    ['inside5', { 'meta.validUntil': '2020-01-01T12:00:00Z' }],
    ['inside6', { expires_at: '2999-01-01T00:00:00Z', expiry: '2020-01-01T12:00:00Z' }],
    ['inside1', { expiration: { enabled: true, date: '2020-01-01T12:00:00Z' } }],
    ['inside2', { settings: { expires_at: 1_577_880_000_000 } }],
    ['inside3', { Meta: { ValidUntil: '2020-01-01T12:00:00Z' } }],
    ['inside4', { validity: { from: null, until: '2020-01-01T12:00:00Z' } }],
  ];
  for (const [slug, more] of inside) {
    expect([slug, await imported(shop, [{ slug, url: to(slug), ...more }])]).toMatchObject([
      slug,
      { created: 1 },
    ]);
    expect(await link(shop, slug)).toMatchObject({ expires_at: '2020-01-01T12:00:00.000Z' });
  }
  const others = {
    domain: { id: 1, expiresAt: '2020-01-01', active: false },
    tracking: { enabled: false },
    expiration: { enabled: false, date: null },
    metadata: { disabled: true },
  };
  expect(await imported(shop, [{ slug: 'others', url: to('others'), ...others }])).toMatchObject({
    created: 1,
  });
  expect((await visitNew(`${ingest.url}/others`)).location?.pathname).toBe('/others');
  const unlimited = { expires_at: 'never', valid_until: '0001-01-01T00:00:00Z', max_clicks: 'Unlimited' };
  expect(await imported(shop, [{ slug: 'endless', url: to('endless'), ...unlimited }])).toMatchObject({
    created: 1,
  });
  expect(await link(shop, 'endless')).toMatchObject({ expires_at: null, max_clicks: null });
  expect(await imported(shop, [{ path: 'span', originalURL: to('span'), ttl: 604_800_000 }])).toMatchObject({
    created: 0,
    errors: [{ link: 'span', field: 'ttl' }],
  });
  for (const own of [
    `destination_url,name,slug,expires_at\n${to('own-end')},Own,own-end,2020-01-01 12:00:00\n`,
    [{ destination_url: to('own-end2'), name: 'Own', slug: 'own-end2', expires_at: 1_577_880_000 }],
  ]) {
    expect(await imported(shop, own)).toMatchObject({ created: 1, errors: [] });
  }
  for (const slug of ['own-end', 'own-end2'])
    expect(await link(shop, slug)).toMatchObject({ expires_at: '2020-01-01T12:00:00.000Z' });
  await imported(shop, `slug,url,max_clicks,clicks\nlast,${to('last')},3,2\n`);
  expect(await link(shop, 'last')).toMatchObject({ max_clicks: 1 });
  expect((await visitNew(`${ingest.url}/last`)).location?.pathname).toBe('/last');
  expect(await status('last')).toBe(410);
  await imported(shop, [
    { slug: 'kept', url: to('kept'), isArchived: true, expires_at: null, max_clicks: null },
  ]);
  expect(await link(shop, 'kept')).toMatchObject({ archived: true, expires_at: null, max_clicks: null });
});

test("Dub's card, Bitly's deep links, Short.io's pixels, and Rebrandly's forwarding are taken over", async ({
  shop,
}) => {
  await imported(shop, [
    {
      domain: 'dub.sh',
      key: 'card',
      url: to('card'),
      proxy: true,
      title: 'A card',
      description: 'What it says',
      image: 'https://shop.example/card.png',
      createdAt: '2024-02-01T00:00:00.000Z',
    },
  ]);
  expect(await link(shop, 'card')).toMatchObject({ metadata: { created_at: '2024-02-01T00:00:00.000Z' } });
  await visitNew(`${ingest.url}/card`);
  const card = await visit(`${ingest.url}/card`, { headers: { 'user-agent': PREVIEW } });
  expect(card.body).toMatch(/og:title" content="A card".*card\.png/s);

  const app = 'https://apps.apple.com/app/id1';
  await imported(shop, {
    links: [
      {
        id: 'bit.ly/deep',
        link: 'https://bit.ly/deep',
        long_url: to('deep'),
        deeplinks: [{ os: 'ios', app_uri_path: '/item/1', install_url: app, install_type: 'auto_install' }],
      },
    ],
  });
  await visitNew(`${ingest.url}/deep`);
  const phone = await visit(`${ingest.url}/deep`, { headers: { 'user-agent': PHONE } });
  expect(phone.location?.href).toMatch(app);
  const csv = `id,link,long_url,DeepLinks\nbit.ly/deep2,https://bit.ly/deep2,${to('deep2')},"[{""OS"":""iOS"",""install_url"":""${app}""},{""os"":""web""}]"\n`;
  expect((await imported(shop, csv)).unknown_columns).toEqual(['DeepLinks.1.os']);
  expect(await link(shop, 'deep2')).toMatchObject({ targeting: { ios: app } });
  const rule = {
    longUrl: to('de'),
    priority: 1,
    conditions: [{ type: 'language', matchKey: null, matchValue: 'de' }],
  };
  const cell = JSON.stringify([rule]).replaceAll('"', '""');
  await imported(
    shop,
    `shortCode,longUrl,hasRedirectRules,redirectRules\nruled,${to('ruled')},true,"${cell}"\n`,
  );
  expect((await link(shop, 'ruled'))?.rules).toMatchObject([{ destination_url: to('de') }]);

  await imported(shop, [
    { originalURL: to('pixels'), path: 'pixels', integrationFB: '123456789012', cloaking: true },
  ]);
  await expect.poll(() => status('pixels')).toBe(200);
  expect((await visit(`${ingest.url}/pixels`)).body).toContain('123456789012');

  await imported(shop, [{ slashtag: 'bare', destination: to('bare'), forwardParameters: false }]);
  const bare = await visitNew(`${ingest.url}/bare?from=mail`);
  expect(bare.location?.searchParams.has('from')).toBe(false);
});

test('folders are made by name once, and UTM parameters are kept without changing a destination that has them', async ({
  shop,
}) => {
  const has = `${to('u1')}?utm_source=mail&utm_medium=letter`;
  await imported(shop, [
    {
      domain: 'dub.sh',
      key: 'u1',
      url: has,
      utm_source: 'mail',
      utm_medium: 'letter',
      folder: { name: 'Spring' },
    },
    { domain: 'dub.sh', key: 'u2', url: to('u2'), utm_source: 'mail', utm_campaign: 'may', folder: 'Spring' },
  ]);
  await imported(shop, `slug,url,folder\nu3,${to('u3')},Spring\n`);
  const { folders } = (await shop.get<{ folders: { id: string; name: string }[] }>('/folders')).body;
  expect(folders.map(({ name }) => name)).toEqual(['Spring']);
  const folder_id = folders[0]?.id;
  expect(await link(shop, 'u1')).toMatchObject({
    folder_id,
    utm_source: 'mail',
    utm_medium: 'letter',
    append_utm: false,
  });
  expect(await link(shop, 'u2')).toMatchObject({
    folder_id,
    utm_source: 'mail',
    utm_campaign: 'may',
    append_utm: true,
  });
  expect(await link(shop, 'u3')).toMatchObject({ folder_id, append_utm: false });
  const { location } = await visitNew(`${ingest.url}/u1`);
  location?.searchParams.delete('_vid');
  expect(location?.href).toBe(has);
});

test('what is not taken over is named, in every format', async ({ shop }) => {
  const shortIo = [
    { originalURL: to('n1'), path: 'n1', cloaking: true, redirect404: null, clicks: 4, skipQS: false },
  ];
  expect((await imported(shop, shortIo)).unknown_columns).toEqual(['cloaking', 'clicks']);
  const yourls = `keyword,url,title,timestamp,ip,clicks\nn2,${to('n2')},T,2012-05-01 10:00:00,203.0.113.7,0\n`;
  expect((await imported(shop, yourls)).unknown_columns).toEqual(['ip', 'clicks']);
  // For an object, the values in it that were not read.
  const nested = [
    { slug: 'n5', url: to('n5'), meta: { validUntil: '2999-01-01T00:00:00Z', mood: 'fine', note: null } },
    { slug: 'n6', url: to('n6'), security: { password: 'pass n6', level: 3 } },
  ];
  const ofObjects = await imported(shop, nested);
  expect(ofObjects).toMatchObject({ created: 2, unknown_columns: ['meta.mood', 'security.level'] });
  const flat = `slug,url,meta.validUntil,meta.mood\nn7,${to('n7')},2999-01-01,fine\n`;
  expect((await imported(shop, flat)).unknown_columns).toEqual(['meta.mood']);
  // A row without a link leaves nothing out.
  const refused = `destination_url,name,slug,mood,hasPassword\n${to('n3')},N,n3,fine,true\nno,N,n4,fine,\n`;
  expect(await imported(shop, refused)).toMatchObject({ created: 0, unknown_columns: ['mood'] });
  const [first = '', bad = ''] = refused.split('\n');
  expect(await imported(shop, `${first}\n${bad}\n`)).toMatchObject({ created: 0, unknown_columns: [] });
  expect(await link(shop, 'n2')).toMatchObject({ metadata: { created_at: '2012-05-01T10:00:00Z' } });
});

test("Hoplog's own columns are read in any case, and a short URL gives the slug where no column has it", async ({
  shop,
}) => {
  const text = `DESTINATION_URL,Name,Slug,Max Clicks,utmCampaign,Preview.Title,short_url\n${to('case')},Case,MyCase,7,may,T,\n`;
  expect(await imported(shop, text)).toMatchObject({ created: 1, errors: [], unknown_columns: [] });
  expect(await link(shop, 'MyCase')).toMatchObject({
    max_clicks: 7,
    utm_campaign: 'may',
    preview: { title: 'T' },
  });
  const files: [slug: string, file: string | object][] = [
    ['s1', `destination_url,name,short_url\n${to('s1')},S,https://old.example/s1\n`],
    ['s2', [{ slug: 's2', url: to('s2'), shortLink: { url: 'https://old.example/s2' } }]],
    ['s3', [{ destination_url: to('s3'), name: 'S', Slug: 's3' }]],
    ['s4', [{ slug: 's4', url: to('s4'), shortLink: { id: 4 } }]],
  ];
  for (const [slug, file] of files) {
    expect([slug, await imported(shop, file)]).toMatchObject([slug, { created: 1, errors: [] }]);
    expect((await visitNew(`${ingest.url}/${slug}`)).location?.pathname).toBe(`/${slug}`);
  }
  const wrong = await imported(shop, `Destination_URL,Name,Slug,Max Clicks\n${to('x')},X,has blank,many\n`);
  expect(wrong.errors.map(({ field }) => field).sort()).toEqual(['Max Clicks', 'Slug']);
});

test('each error of a JSON file names the link, its place, the field, and the rule in words', async ({
  shop,
}) => {
  const rows = [
    { originalURL: to('fine'), path: 'fine' },
    { originalURL: to('e1'), path: 'has blank s', shortURL: 'https://go.example/has%20blank%20s' },
    { originalURL: 'ftp://shop.example/', path: 'e2', password: 'never shown' },
  ];
  const result = await imported(shop, rows);
  expect(result.errors).toMatchObject([
    {
      index: 1,
      link: 'https://go.example/has%20blank%20s',
      field: 'path',
      message:
        'must be 1 to 64 letters, digits, - and _, with at most 4 slashes between them, not "has blank s"',
    },
    {
      index: 2,
      link: 'e2',
      field: 'originalURL',
      message: expect.stringMatching(/^must be a full URL that begins with https:/),
    },
  ]);
  expect(JSON.stringify(result)).not.toContain('never shown');
});

test('a dry run says what the import then does, and writes nothing', async ({ shop }) => {
  const text = `slug,url\nd1,${to('d1')}\nd1,${to('d1')}\nd2,ftp://x.example/\nnew.example/d3,${to('d3')}\n`;
  const dry = await imported(shop, text, { dry_run: true, unproven: 'keep' });
  expect([await link(shop, 'd1'), await status('d1')]).toEqual([undefined, 404]);
  const { domains } = (await shop.get<{ domains: unknown[] }>('/domains')).body;
  expect(domains).toEqual([]);
  const real = await imported(shop, text, { unproven: 'keep' });
  expect(dry).toEqual({ ...real, dry_run: true });
  expect(real).toMatchObject({ dry_run: false, created: 2, skipped: 1, errors: [{ link: 'd2' }] });
});
