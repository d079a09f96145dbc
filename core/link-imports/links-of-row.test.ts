import { expect, test } from 'vitest';
import { createColumnWatch } from './column-watch.ts';
import type { ImportDefaults } from './create-row.ts';
import { csvRows } from './csv-rows.ts';
import { formatOf } from './formats/known.ts';
import { jsonRows } from './json-rows.ts';
import { linksOfRow } from './links-of-row.ts';
import type { ReadRow } from './source-row.ts';
import { formOf } from './text-form.ts';

const DEFAULTS: ImportDefaults = {
  primaryDomain: null,
  domains: { own: 'hop.example', proven: ['old.example'], unproven: 'refuse' },
  channel: 'other',
};
const URL = 'https://shop.example/';

type Outcome = {
  bodies: Record<string, unknown>[];
  hashes: (string | null)[];
  errors: { link: string | null; field: string | null; message: string }[];
  unknown: string[];
};

async function* pieces(text: string) {
  yield text;
}

function rowsOf(text: string): AsyncGenerator<ReadRow> {
  const form = formOf(text);
  return form.kind === 'json' ? jsonRows(pieces(text)) : csvRows(pieces(text), form);
}

async function read(file: string | object): Promise<Outcome> {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  const columns = createColumnWatch();
  const outcome: Outcome = { bodies: [], hashes: [], errors: [], unknown: [] };
  for await (const row of rowsOf(text)) {
    if ('problem' in row) {
      const { column: field, message } = row.problem;
      outcome.errors.push({ link: null, field, message });
      continue;
    }
    const { links, problems } = linksOfRow(row, formatOf(row), DEFAULTS);
    if (links.length > 0) columns.see(row);
    outcome.bodies.push(...links.map(({ body }) => body));
    outcome.hashes.push(...links.map(({ passwordHash }) => passwordHash));
    for (const { link, problem } of problems) {
      outcome.errors.push({ link, field: problem.column, message: problem.message });
    }
  }
  outcome.unknown = columns.unknown();
  return outcome;
}

const one = (more: object) => read([{ slug: 'a', url: URL, ...more }]);

/** Returns those of the columns whose row is a link. */
async function taken(rows: readonly object[]): Promise<object[]> {
  const outcomes = await Promise.all(rows.map(one));
  return rows.filter((_, nth) => outcomes[nth]?.errors.length === 0);
}

/** Returns those of the columns whose row is no error of that column. */
async function notRefused(rows: readonly object[]): Promise<object[]> {
  const outcomes = await Promise.all(rows.map(one));
  return rows.filter((row, nth) => outcomes[nth]?.errors[0]?.field !== Object.keys(row)[0]);
}

const KEY = 'mK3x9dQzP0aV7bTn5LrW2cYfH8sJ4uEg';
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

test('masks, and hashes that cannot be checked, are never taken as the password', async () => {
  const masks = [
    '__SINK_MASKED__•••abc',
    '__SINK_MASKED__ab',
    '__VAULT__',
    '****',
    'ab****yz',
    '••••',
    '●●●●●●',
    '[hidden]',
    '<redacted>',
    '(masked)',
    '{{redacted}}',
    '***REDACTED***',
    'FILTERED',
    'xxxx',
    '....',
    '####',
  ];
  const hashes = [
    `sink-pwd:v1:10000:c2FsdHNhbHQ:${KEY}`,
    `vault:v1:${KEY}`,
    `pbkdf2:sha256:260000$salt$${HEX}`,
    `pbkdf2_sha256$260000$salt$${KEY}=`,
    `pbkdf2:10000:salt:${KEY}`,
    `$scrypt$ln=31,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$${KEY}`,
    `sha256:${HEX}`,
    `sha256:${KEY}`,
    `sha1$salt$${HEX.slice(0, 40)}`,
    `md5:${HEX.slice(0, 32)}`,
    `SHA-512=${HEX}${HEX}`,
    `{SSHA}${KEY}`,
    `*${HEX.slice(0, 40).toUpperCase()}`,
    `0x${HEX}`,
    `a1b2c3d4:${HEX}`,
    `${HEX}.a1b2c3d4`,
    `1000:${KEY}:${KEY}`,
    'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
    `enc:v1:${KEY}`,
    `U2FsdGVkX1${KEY}`,
  ];
  expect(await taken([...masks, ...hashes].map((password) => ({ password })))).toEqual([]);
  const shown = await Promise.all([...masks, ...hashes].map((password) => one({ password })));
  for (const [nth, text] of [...masks, ...hashes].entries()) {
    expect(JSON.stringify(shown[nth]?.errors)).not.toContain(text);
  }
  const clear = [
    'hunter2',
    'p*ss w*rd',
    'a:b:c',
    'https://a.example/b',
    'sha',
    'Kd9-x.y:z$1',
    '12345678',
    'x',
    '{x}',
  ];
  for (const password of clear) expect((await one({ password })).bodies).toMatchObject([{ password }]);
});

test('a column means a password in any spelling, and one that only resembles it is none', async () => {
  const mentions = [
    { hasPwd: true },
    { HAS_PWD: 1 },
    { has_pw: 'yes' },
    { haspw: true },
    { pwd_protected: true },
    { passProtected: true },
    { 'Pass Protected': 't' },
    { requires_pass: true },
    { has_pin: true },
    { pinRequired: true },
    { pass_hash: '5f4dcc3b' },
    { pw_hash: '5f4dcc3b' },
    { campaign_pwd_set: true },
    { access_pw_hint: 'the usual' },
    { senhaAtiva: true },
  ];
  expect(await notRefused(mentions)).toEqual([]);
  const values = [
    'link_pwd',
    'linkPw',
    'palavra_passe',
    'Palavra-passe',
    'mật khẩu',
    'Mot De Passe',
    'MDP',
    'link_pin',
  ];
  for (const name of [...values, 'accessPass', 'kata sandi', 'รหัสผ่าน', 'pswd', 'Kodeord']) {
    expect([name, (await one({ [name]: 'hunter2' })).bodies]).toMatchObject([
      name,
      [{ password: 'hunter2' }],
    ]);
  }
  const others = [
    { pass_through: true },
    { passQuery: true },
    { pass_utm: true },
    { pin_to_top: true },
    { pinned: true },
    { isPinned: true },
    { pinned_at: '2024-01-01' },
    { passes: 3 },
    { compass: 'n' },
    { pwa: true },
  ];
  expect(await taken(others)).toEqual(others);
});

test('a status opens the link only where it is known to mean that', async () => {
  const off = [
    'Disabled (abuse)',
    'Banned: spam',
    'soft_deleted',
    'auto_disabled',
    'Link expired',
    'max visits reached',
    'notActive',
    'not active',
    'active until yesterday',
    'Gesperrt',
    'désactivé',
    'under review',
    'whatever',
    'archived (spam)',
    '404',
    false,
    0,
  ];
  expect(await notRefused(off.map((status) => ({ status })))).toEqual([]);
  const live = [
    'active',
    'Active link',
    'LIVE',
    'enabled',
    'Online',
    'ok',
    '200 OK',
    301,
    true,
    1,
    'aktiv',
    '',
    null,
  ];
  const rows = live.map((status) => ({ status }));
  expect(await taken(rows)).toEqual(rows);
  expect((await one({ status: 'Archived' })).bodies).toMatchObject([{ archived: true }]);
  expect((await one({ status: 'Link expired', expires_at: '2020-01-01' })).bodies).toHaveLength(1);
  expect((await one({ status: 'scheduled', starts_at: '2099-01-01' })).bodies).toHaveLength(1);
  expect((await one({ status: 'scheduled' })).errors).toMatchObject([{ link: 'a', field: 'status' }]);
});

test('a flag or a count that says that the link is off or used up is an error', async () => {
  const off = [
    { usedUp: true },
    { limitReached: true },
    { max_visits_reached: 'yes' },
    { clickLimitExceeded: 1 },
    { quota_exceeded: true },
    { exhausted: true },
    { remainingClicks: 0 },
    { clicks_left: '0' },
    { usesRemaining: 0 },
    { disabled_by_admin: true },
    { disabledByUserId: 'u1' },
    { soft_deleted: true },
    { autoDisabled: true },
    { disable: true },
    { date_deleted: '2024-01-01' },
    { deleted_date: '2024-01-01' },
    { isSpam: true },
    { enable: false },
    { activeStatus: 'Inactive' },
  ];
  expect(await notRefused(off)).toEqual([]);
  const on = [
    { usedUp: false },
    { remaining_clicks: null },
    { disabled_by_admin: 'no' },
    { trackingDisabled: true },
    { blockedCountries: 'US' },
    { analytics_disabled: true },
    { deleted_clicks: 3 },
  ];
  expect(await taken(on)).toEqual(on);
  expect((await one({ remainingClicks: 3 })).bodies).toMatchObject([{ max_clicks: 3 }]);
});

test('a limit and its count are read in the same words', async () => {
  const words = ['uses', 'views', 'redirects', 'visits', 'clicks', 'hits', 'usages'];
  const used = words.map((word) => ({ [`max_${word}`]: 5, [word]: 5 }));
  expect(await notRefused(used)).toEqual([]);
  const counts = [
    { max_views: 5, view_count: 5 },
    { maxUses: 5, usedCount: 5 },
    { click_limit: 5, totalClicks: 7 },
  ];
  expect(await notRefused(counts)).toEqual([]);
  expect((await one({ maxUses: 5, uses: 2, clicks: 9 })).bodies).toMatchObject([{ max_clicks: 3 }]);
});

test('an error of JSON that does not parse says where, and quotes nothing', async () => {
  const broken = [
    `[{"slug":"a","url":"${URL}",\n "password":'hunter2'}]`,
    `[{"slug":"a","url":"${URL}","password":"hunter2""}]`,
    `{"password":hunter2,"url":"${URL}"}`,
    `[{"slug":"a","url":"${URL}","password":"hunter2\\q"}]`,
    `[{"slug":"a","url":"${URL}","n":hunter2}]`,
  ];
  for (const text of broken) {
    const { errors } = await read(text);
    expect(errors.length).toBeGreaterThan(0);
    expect(JSON.stringify(errors)).not.toMatch(/hunter/);
  }
  expect((await read(broken[0] ?? '')).errors[0]?.message).toMatch(/line 2, column 13/);
  const cell = `destination_url,slug,metadata\n${URL},a,{hunter2}\n`;
  expect((await read(cell)).errors).toEqual([
    { link: 'a', field: 'metadata', message: expect.stringMatching(/^must be JSON: .*line 1, column 2/) },
  ]);
  const noHeader = `a,${URL},hunter2\nb,${URL},hunter3\n`;
  await expect(read(noHeader)).rejects.toThrow(/first row/);
  await expect(read(noHeader)).rejects.not.toThrow(/hunter2/);
});

test('a key that an object of JSON has twice is an error that names it, at any depth', async () => {
  const row = (more: string, slug = 'a') => `{"slug":"${slug}","url":"${URL}",${more}}`;
  const cases: [more: string, field: string][] = [
    ['"password":"hunter2","password":""', 'password'],
    ['"p\\u0061ssword":"hunter2", "password" : ""', 'password'],
    ['"tags":["a"],"tags":["b"]', 'tags'],
    ['"meta":{"expires_at":"2020-01-01","expires_at":null}', 'meta.expires_at'],
    ['"list":[{"a":1},{"a":1,"a":2}]', 'list.0.a'],
    ['"metadata":"{\\"a\\":1,\\"a\\":2}"', 'metadata.a'],
  ];
  for (const [more, field] of cases) {
    const files = [row(more), `[${row(more)}]`, `{"links":[${row(more)}]}`];
    if (field !== 'list.0.a') files.push(`{"links":{"l_1":${row(more)}}}`);
    for (const file of files) {
      const { bodies, errors } = await read(file);
      expect([file, bodies, errors]).toMatchObject([file, [], [{ link: 'a' }]]);
      expect(errors[0]?.field?.endsWith(field)).toBe(true);
      expect(JSON.stringify(errors)).not.toMatch(/hunter/);
    }
  }
  const fine = row('"tags":["\\"a\\":1"],"meta":{"a":1},"other":{"a":1}');
  expect((await read(`[${fine},${row('"b":1', 'b')}]`)).bodies).toHaveLength(2);
});

test('two columns of one name are one value, or an error that names the column', async () => {
  const twice = (name: string, a: string, b: string, second = name) =>
    read(`slug,url,${name},${second}\na,${URL},${a},${b}\n`);
  for (const [a, b] of [
    ['hunter2', ''],
    ['', 'hunter2'],
    ['hunter2', 'hunter2'],
  ] as const) {
    expect((await twice('password', a, b)).bodies).toMatchObject([{ password: 'hunter2' }]);
  }
  const contradictions: [string, string, string, string?][] = [
    ['password', 'hunter2', 'hunter3'],
    ['disabled', 'true', 'false'],
    ['disabled', 'true', 'false', 'Disabled'],
    ['expires_at', '2020-01-01', '2099-01-01'],
    ['Expires At', '2099-01-01', '2020-01-01', 'expires_at'],
  ];
  for (const [name, a, b, second] of contradictions) {
    const { bodies, errors } = await twice(name, a, b, second);
    expect([name, bodies, errors]).toMatchObject([name, [], [{ field: name }]]);
    expect(JSON.stringify(errors)).not.toMatch(/hunter/);
  }
  expect((await twice('disabled', '', 'true')).errors).toMatchObject([{ field: 'disabled' }]);
  expect((await twice('Disabled', '', 'true', 'disabled')).errors).toMatchObject([{ field: 'disabled' }]);
  expect((await twice('password', 'hunter2', 'hunter3')).errors[0]?.link).toBe('a');
  expect((await read(`slug,url,,\na,${URL},1,2\n`)).bodies).toHaveLength(1);
  expect((await one({ disabled: false, Disabled: true })).bodies).toEqual([]);
});

test('a full short URL in a column of slugs gives the domain, and names the link of an error', async () => {
  const lists = ['alias,url', 'Back-half,Long URL', 'Shortened URL,Long URL', 'slug,url', 'Short code,url'];
  for (const header of lists) {
    const at = async (host: string) => read(`${header}\nhttps://${host}/x,${URL}\n`);
    expect([header, (await at('old.example')).bodies]).toMatchObject([
      header,
      [{ slug: 'x', domain: 'old.example' }],
    ]);
    const { bodies, errors } = await at('lost.example');
    expect([header, bodies, errors]).toMatchObject([header, [], [{ link: 'https://lost.example/x' }]]);
  }
});

test('what is inside of an object that was read in part is named', async () => {
  const settings = {
    expires_at: '2099-01-01T00:00:00Z',
    targeting: { ios: URL },
    tags: ['x', 'y'],
    user: { id: 4 },
  };
  const { bodies, unknown } = await one({ settings });
  expect(bodies).toMatchObject([{ expires_at: settings.expires_at }]);
  expect(unknown).toEqual(['settings.targeting.ios', 'settings.tags', 'settings.user.id']);
});

test('a yes or no is read in every form of it', async () => {
  for (const value of ['f', 'n', 'N', 'off', 'no', 'FALSE', 0, false]) {
    for (const name of ['forwardParameters', 'forward_query', 'passQuery']) {
      expect([value, name, (await one({ [name]: value })).bodies]).toMatchObject([
        value,
        name,
        [{ forward_query: false }],
      ]);
    }
  }
  for (const skipQS of ['t', 'y', 'on', 1, true]) {
    expect((await one({ skipQS })).bodies).toMatchObject([{ forward_query: false }]);
  }
});

test('countries of Sink become rules, and a split or pixel of Short.io is taken or named', async () => {
  const german = 'https://shop.example/de';
  const sink = await read([
    { id: '1', slug: 'a', url: URL, createdAt: 1_700_000_000, geo: { DE: german, AT: german }, apple: URL },
  ]);
  expect(sink).toMatchObject({ unknown: ['id'], bodies: [{ rules: [{}, {}] }] });
  expect(sink.bodies[0]?.rules).toEqual([
    { conditions: [{ type: 'os', operator: 'is', values: ['ios'] }], destination_url: URL },
    { conditions: [{ type: 'country', operator: 'is', values: ['DE', 'AT'] }], destination_url: german },
  ]);
  const short = (more: object) => read([{ originalURL: URL, path: 'a', splitURL: german, ...more }]);
  expect(await short({ splitPercent: 100 })).toMatchObject({
    unknown: [],
    bodies: [{ destination_url: german }],
  });
  expect(await short({ splitPercent: 33.5 })).toMatchObject({
    unknown: ['splitPercent'],
    bodies: [{ split: [{ weight: 66 }, { weight: 34 }] }],
  });
  expect(await short({})).toMatchObject({ unknown: ['splitURL'], bodies: [{ destination_url: URL }] });
  expect((await read([{ originalURL: URL, path: 'a', integrationGA: 'tracker' }])).unknown).toEqual([
    'integrationGA',
  ]);
});

test('a code or a word that opens the link is its password, in the languages of the services', async () => {
  const names = `Clave,clave de acceso,código de acceso,code d'accès,codice di accesso,Zugangscode,Zugriffscode,
    security code,κωδικός πρόσβασης,पासवर्ड,lykilorð,wagwoord,paßwort,geheimwort,кодовое слово,secret_code,secret word,
    unlock_key,unlockCode,access_key,access code,keyphrase,passw,kod dostępu,erişim kodu,přístupový kód,åtkomstkod,
    код доступа,アクセスコード,secret_key,secret`;
  for (const name of names.split(',').map((one) => one.trim())) {
    expect([name, (await one({ [name]: 's3cret!' })).bodies]).toMatchObject([
      name,
      [{ password: 's3cret!' }],
    ]);
    expect([name, (await one({ [name]: true })).errors]).toMatchObject([name, [{ field: name }]]);
  }
  const mentions = [
    { locked: 'password' },
    { is_locked: 'password' },
    { private: 'password' },
    { secured: 'password' },
    { opened_by: 'Passwort' },
    { door: 'password protected' },
    { door: { lock: 'mot de passe' } },
    { locked: true },
    { gated: true },
    { has_access_code: true },
  ];
  expect(await taken(mentions)).toEqual([]);
  const others = [
    { locked: false },
    { title: 'Password' },
    { notes: 'password' },
    { tags: ['password'] },
    { folder: 'Password' },
    { subject: 'password reset' },
    { 'palabra clave': 'zapatos' },
    { country_code: 'DE' },
    { secret_key: '' },
    { check: 'pass' },
  ];
  expect(await taken(others)).toEqual(others);
  const { bodies } = await one({ keyword: 'shoes', door: 'open', folder: 'Password' });
  expect(bodies[0]?.password).toBeUndefined();
});

test('the words of a status are also names of columns with a yes or no, in their languages', async () => {
  const off = [
    { Aktiv: 'nein' },
    { activo: 'no' },
    { Gelöscht: 'ja' },
    { actif: 'non' },
    { Supprimé: 'vrai' },
    { trash: true },
    { is_trash: 1 },
    { in_trash: 'yes' },
    { taken_down_at: '2024-01-01' },
    { turned_off: true },
    { switchedOff: true },
    { closed: true },
    { cancelled: 'yes' },
    { blacklisted: true },
    { malicious: true },
    { post_status: 'trash' },
    { post_status: 'draft' },
    { approval_status: 'rejected' },
    { moderation: 'blocked' },
    { lifecycle: 'ended' },
    { mode: 'disabled' },
    { Zustand: 'gesperrt' },
  ];
  expect(await notRefused(off)).toEqual([]);
  const on = [
    { Aktiv: 'ja' },
    { activo: 'sí' },
    { Gelöscht: 'nein' },
    { trash: false },
    { closed: 'no' },
    { post_status: 'publish' },
    { approval_status: 'approved' },
    { moderation: { checked: 'no' } },
    { mode: 'cloaked' },
    { opened: 0 },
    { created: '2024-01-01' },
    { live_clicks: 0 },
  ];
  expect(await taken(on)).toEqual(on);
});

test('an end and a limit have many names', async () => {
  const ends = `deactivate_at,disable_at,delete_at,deleteAt,auto_delete_at,unpublish_on,removeAt,until,ends,liveUntil,
    closes_at,not_after,expireAfter,expires_at,valid_until,endDate,active until,Gültig bis`;
  for (const name of ends.split(',').map((one) => one.trim())) {
    const { bodies, errors } = await one({ [name]: '2020-01-01T00:00:00Z' });
    expect([name, errors, bodies]).toMatchObject([name, [], [{ expires_at: '2020-01-01T00:00:00Z' }]]);
  }
  expect((await one({ expire_after: 86_400_000_0 })).errors).toMatchObject([{ field: 'expire_after' }]);
  const limits = `expire_at_views,expires_after_clicks,expire_after_visits,click_expiration,allowed_clicks,visits_allowed,
    max_clicks,click_limit`;
  for (const name of limits.split(',').map((one) => one.trim())) {
    expect([name, (await one({ [name]: 7 })).bodies]).toMatchObject([name, [{ max_clicks: 7 }]]);
  }
  for (const name of ['one_time', 'single_use', 'oneTimeLink', 'single use']) {
    expect([name, (await one({ [name]: true })).bodies]).toMatchObject([name, [{ max_clicks: 1 }]]);
    expect([name, (await one({ [name]: true, clicks: 3 })).errors]).toMatchObject([name, [{ field: name }]]);
    expect((await one({ [name]: false })).bodies[0]?.max_clicks).toBeUndefined();
  }
});

test('a tag in an object is taken, and what cannot be read of tags and deeplinks is named', async () => {
  const tags = [{ id: 1, tag: 'foo' }, { id: 2, label: 'bar' }, 'baz'];
  expect(await one({ tags })).toMatchObject({ unknown: [], bodies: [{ tags: ['foo', 'bar', 'baz'] }] });
  expect((await one({ tags: ['a', { id: 3 }] })).unknown).toEqual(['tags']);
  const store = 'https://apps.apple.com/app/id1';
  const deeplinks = [
    {
      guid: 'D1',
      os: 'ios',
      app_uri_path: '/store?id=1',
      install_url: store,
      install_type: 'promote_install',
    },
  ];
  const bitly = (more: object) => read([{ link: 'https://old.example/x', long_url: URL, ...more }]);
  expect(await bitly({ deeplinks })).toMatchObject({
    bodies: [{ targeting: { ios: store } }],
    unknown: ['deeplinks.0.app_uri_path', 'deeplinks.0.install_type'],
  });
  const app = [{ os: 'android', app_uri_path: 'shop://store/1', install_url: '' }];
  expect(await bitly({ deeplinks: app })).toMatchObject({
    bodies: [{ targeting: { android: 'shop://store/1' } }],
    unknown: [],
  });
});

test('a plain list gives forwarding, status, card, and apps', async () => {
  const image = 'https://shop.example/card.png';
  const { bodies, unknown } = await read(
    'slug,url,param_forwarding,redirect_type,og_title,og_description,og_image,ios_url,android_url\n' +
      `a,${URL},off,301,Tea,Green,${image},${URL}ios,${URL}android\n`,
  );
  expect(unknown).toEqual([]);
  expect(bodies).toMatchObject([
    {
      forward_query: false,
      redirect_status: 301,
      preview: { title: 'Tea', description: 'Green', image_url: image },
      targeting: { ios: `${URL}ios`, android: `${URL}android` },
    },
  ]);
  expect((await one({ redirect_type: 'cloaked' })).unknown).toEqual(['redirect_type']);
});

test('the root of a domain in Dub is an error', async () => {
  const root = { id: '1', domain: 'old.example', key: '_root', url: URL };
  expect(await read([root])).toMatchObject({ bodies: [], errors: [{ field: 'key' }] });
});
