import { afterAll, expect } from 'vitest';
import type { TestWorkspace } from '../support/api.ts';
import { sharedShopTest as test } from '../support/fixtures.ts';
import { startTestIngest, type TestIngest } from '../support/ingest.ts';
import { visit, visitNew } from '../support/visitors.ts';

/** Hashes of other services, made with their own libraries, and the password of each. */
const BCRYPT = {
  hash: '$2a$10$4KRyv9EeBqiwypKZAYQFme1VajLBHmTweCPa0b.8qTFa1N0vAUfuO',
  password: 'members only',
};
const LARAVEL = { hash: '$2y$10$wGrubHeNaOCwdJ/mAjD4mOqK6E7FjYvjXNnumfnk9V/EdfzKwiBrK', password: 'laravel' };
const ARGON2 = {
  hash: '$argon2id$v=19$m=19456,t=2,p=1$3xBGH3lMI2OHAaR4DlfvLg$yOHZxVRj0P6IIgi0YfweJxfmaRdAIAGGoFhECcO+Bew',
  password: 'argon pass',
};
const WERKZEUG = {
  hash: 'scrypt:32768:8:1$Sw3nYjU2$53e32b4f39d8d8fadc9de3236c9c485fd773866b3d5547806adbaa971fd5560d77e8a4f84c302c3972356313c58aa4862e8f4ac68aed6769e74e4b286633f9aa',
  password: 'flask pass',
};
const PHC = {
  hash: '$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$GLgKrUELd2viyZYVEa8pNq/XGd9Tbt0RN93Iw6UO8F4',
  password: 'phc pass',
};

type Imported = {
  created: number;
  errors: { line: number; index: number; link: string | null; field: string | null; message: string }[];
};

let ingest: TestIngest;

test.beforeAll(async ({ api }) => {
  ingest = await startTestIngest({ ...api.stores, env: { TRUST_PROXY: '127.0.0.1' } });
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
});

async function imported(shop: TestWorkspace, text: string): Promise<Imported> {
  const { status, body } = await shop.post<Imported>('/links/import', { text, unproven: 'move' });
  expect(status).toBe(200);
  return body;
}

let addresses = 0;

function submit(slug: string, password: string) {
  addresses += 1;
  return visit(`${ingest.url}/${slug}`, {
    method: 'POST',
    body: new URLSearchParams({ password }),
    headers: { 'x-forwarded-for': `192.0.2.${addresses}` },
  });
}

/** Visits a link that has a password: the form, a wrong password, and the right one. */
async function expectProtected(slug: string, password: string, destination: string): Promise<void> {
  await expect.poll(async () => (await visit(`${ingest.url}/${slug}`)).status).toBe(200);
  expect((await visit(`${ingest.url}/${slug}`)).body).toMatch(/<form method="post">.*type="password"/);
  expect((await submit(slug, `${password}?`)).status).toBe(401);
  const right = await submit(slug, password);
  expect([right.status, right.location?.origin + (right.location?.pathname ?? '')]).toEqual([
    302,
    destination,
  ]);
}

async function expectOpen(slug: string, destination: string): Promise<void> {
  const { location } = await visitNew(`${ingest.url}/${slug}`);
  expect(location && location.origin + location.pathname).toBe(destination);
}

test('a password in the file of another service is taken, whatever its column is called', async ({
  shop,
}) => {
  const files: [name: string, text: string][] = [
    // Short.io, GET /api/links with the passwords added by hand.
    [
      'short',
      JSON.stringify({
        links: [
          {
            originalURL: 'https://shop.example/short',
            path: 'short',
            hasPassword: true,
            password: 'pass short',
          },
        ],
        nextPageToken: null,
      }),
    ],
    ['own', 'destination_url,name,slug,Password\nhttps://shop.example/own,Own,own,pass own\n'],
    ['list', 'shorturl,longurl,password\nlist,https://shop.example/list,pass list\n'],
    ['yourls', 'keyword,url,title,password\nyourls,https://shop.example/yourls,,pass yourls\n'],
    [
      'shlink',
      'Long URL;Tags;Domain;Short code;Title;Passwort\nhttps://shop.example/shlink;;;shlink;;pass shlink\n',
    ],
    [
      'sink',
      JSON.stringify({
        version: '1.0',
        count: 1,
        links: [
          {
            id: 'a1',
            slug: 'sink',
            url: 'https://shop.example/sink',
            createdAt: 1_700_000_000,
            password: 'pass sink',
          },
        ],
        list_complete: true,
      }),
    ],
    ['dub', 'domain,key,url,password\ndub.sh,dub,https://shop.example/dub,pass dub\n'],
    ['french', 'slug,url,Mot de passe\nfrench,https://shop.example/french,pass french\n'],
    [
      'deep',
      JSON.stringify([
        {
          slug: 'deep',
          url: 'https://shop.example/deep',
          security: { password: { enabled: true, value: 'pass deep' } },
        },
      ]),
    ],
    [
      'inlist',
      JSON.stringify([{ slug: 'inlist', url: 'https://shop.example/inlist', Passwords: ['pass inlist'] }]),
    ],
    ['pin', 'shorturl,longurl,PIN\npin,https://shop.example/pin,pass pin\n'],
    ['incell', 'slug,url,options\nincell,https://shop.example/incell,"{""password"":""pass incell""}"\n'],
  ];
  for (const [name, text] of files) {
    expect([name, await imported(shop, text)]).toMatchObject([name, { created: 1, errors: [] }]);
    await expectProtected(name, `pass ${name}`, `https://shop.example/${name}`);
  }
});

test('a bcrypt, argon2, or scrypt hash of another service opens the link with its password', async ({
  shop,
}) => {
  const hashes = { kutt: BCRYPT, laravel: LARAVEL, argon: ARGON2, werkzeug: WERKZEUG, phc: PHC };
  const rows = Object.entries(hashes).map(
    ([slug, { hash }]) => `${slug},https://shop.example/${slug},"${hash}"\n`,
  );
  const result = await imported(shop, `address,target,password\n${rows.join('')}`);
  expect(result).toMatchObject({ created: 5, errors: [] });
  for (const [slug, { password }] of Object.entries(hashes)) {
    await expectProtected(slug, password, `https://shop.example/${slug}`);
  }
});

test('a password that the file only mentions is an error that names the link, and makes none', async ({
  shop,
}) => {
  const file = (column: string, value: string, slug: string) =>
    `slug,url,${column}\n${slug},https://shop.example/${slug},${value}\n`;
  const json = (slug: string, more: object) =>
    JSON.stringify([{ originalURL: `https://shop.example/${slug}`, path: slug, ...more }]);
  const mentions: [slug: string, field: string, text: string][] = [
    ['m1', 'hasPassword', json('m1', { hasPassword: true })],
    ['m2', 'password', json('m2', { password: true })],
    // The console's export of links.
    [
      'm3',
      'password_protected',
      'destination_url,name,slug,password_protected\nhttps://shop.example/m3,M,m3,true\n',
    ],
    ['m4', 'passwordEnabledAt', file('passwordEnabledAt', '2024-05-01T00:00:00.000Z', 'm4')],
    ['m5', 'Password', file('Password', '********', 'm5')],
    [
      'm6',
      'meta.passwordProtected',
      JSON.stringify([
        { shortCode: 'm6', longUrl: 'https://shop.example/m6', meta: { passwordProtected: 1 } },
      ]),
    ],
    ['m7', 'Is Protected', file('Is Protected', 'yes', 'm7')],
    ['m8', 'password_hash', file('password_hash', '5f4dcc3b5aa765d61d8327deb882cf99', 'm8')],
    [
      'm9',
      'password',
      file('password', '$2a$31$4KRyv9EeBqiwypKZAYQFme1VajLBHmTweCPa0b.8qTFa1N0vAUfuO', 'm9'),
    ],
    ['m10', 'password', file('password', 'enabled', 'm10')],
    ['m12', 'protected.enabled', json('m12', { protected: { enabled: true } })],
    ['m13', 'isProtected.value', json('m13', { isProtected: { value: true } })],
    ['m14', 'protected.enabled', json('m14', { protected: { enabled: true, by: 'password' } })],
    ['m15', 'protection.enabled', json('m15', { protection: { enabled: true } })],
    ['m16', 'security', json('m16', { security: 'password' })],
    ['m17', 'access.type', json('m17', { access: { type: 'password_protected' } })],
    ['m18', 'security', json('m18', { security: ['password'] })],
    ['m19', 'Security.Modes', json('m19', { Security: { Modes: ['expiry', 'Password protected'] } })],
    ['m20', 'protections.0.type', json('m20', { protections: [{ type: 'PASSWORD' }] })],
    ['m21', 'features', file('features', '"[""password"",""qr""]"', 'm21')],
    ['m22', 'settings.hasPassword', file('settings', '"{""hasPassword"":true}"', 'm22')],
    ['m23', 'password.0', json('m23', { password: ['********'] })],
    ['m11', 'has_pwd_パスワード', file('has_pwd_パスワード', 'true', 'm11')],
  ];
  for (const [slug, field, text] of mentions) {
    const result = await imported(shop, text);
    expect([slug, result]).toMatchObject([
      slug,
      { created: 0, errors: [{ index: 0, link: slug, field, message: expect.stringMatching(/password/) }] },
    ]);
    expect(JSON.stringify(result)).not.toMatch(/5f4dcc|4KRyv/);
    expect((await visit(`${ingest.url}/${slug}`)).status).toBe(404);
  }
});

test('an empty, null, false, 0, or no in a column of passwords is none', async ({ shop }) => {
  const values = ['', 'null', 'NULL', 'false', '0', 'no', '\\N', 'f'];
  const rows = values.map((value, nth) => `none${nth},https://shop.example/none${nth},${value}\n`);
  expect(await imported(shop, `slug,url,password\n${rows.join('')}`)).toMatchObject({
    created: 8,
    errors: [],
  });
  const json = [null, false, 0, '', undefined].map((password, nth) => ({
    path: `nothing${nth}`,
    originalURL: `https://shop.example/nothing${nth}`,
    password,
    hasPassword: false,
    user: { password: 'of the account' },
    security: nth === 0 ? [] : ['no password'],
    passwords: [],
  }));
  expect(await imported(shop, JSON.stringify(json))).toMatchObject({ created: 5, errors: [] });
  await expectOpen('none6', 'https://shop.example/none6');
  await expectOpen('nothing1', 'https://shop.example/nothing1');
});

test('columns whose names only resemble a password are none', async ({ shop }) => {
  const text =
    'slug,url,hasLogo,compass,bypass_cache,pages_loaded\nlike,https://shop.example/like,true,true,true,true\n';
  expect(await imported(shop, text)).toMatchObject({ created: 1, errors: [] });
});

test('two passwords of one link that differ are an error, and neither is told', async ({ shop }) => {
  const result = await imported(
    shop,
    'slug,url,password,passwort\ntwice,https://shop.example/t,alpha,beta\n',
  );
  expect(result).toMatchObject({ created: 0, errors: [{ link: 'twice', field: 'password' }] });
  expect(JSON.stringify(result)).not.toMatch(/alpha|beta/);
});
