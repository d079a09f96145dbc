import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { type Authenticator, authenticator, type Dishonesty } from '../../test/support/authenticator.ts';
import { type ConsoleBrowser, consoleBrowser, invite, signedInAs } from '../../test/support/members.ts';
import { relyingParty } from './passkeys.ts';

type Options = { challenge: string; rp?: { id: string }; user?: { id: string } };

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => api.close());

/** The test's APP_URL is http://127.0.0.1:3000. */
const device = () => authenticator('http://localhost:3000', 'localhost');
let addresses = 0;
const stranger = () => consoleBrowser(api, `198.51.100.${++addresses}`);

async function optionsOf(browser: ConsoleBrowser, path: string, body?: object): Promise<Options> {
  const answer = await browser.call<Options>('POST', path, body === undefined ? {} : { body });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function addPasskey(browser: ConsoleBrowser, key: Authenticator, given?: Dishonesty) {
  const options = await optionsOf(browser, '/passkeys/options');
  return browser.call<{ id: string }>('POST', '/passkeys', { body: { passkey: key.create(options, given) } });
}

async function signIn(key: Authenticator, given?: Dishonesty) {
  const browser = stranger();
  const options = await optionsOf(browser, '/session/passkey/options');
  const body = { passkey: key.sign(options, given) };
  return browser.call<{ member: { id: string } }>('POST', '/session/passkey', { body });
}

test('an invitation is accepted with a passkey and without an email, which signs in later', async () => {
  const token = await invite(api, shop, { role: 'operator' });
  const browser = stranger();
  const key = device();
  const options = await optionsOf(browser, '/session/invite/passkey-options', { token });
  expect(options.rp?.id).toBe('localhost');
  const accepted = await browser.call<{ member: { id: string; email: null; role: string } }>(
    'POST',
    '/session/invite',
    { body: { token, passkey: key.create(options) } },
  );
  expect([accepted.status, accepted.body.member]).toEqual([
    200,
    { id: expect.any(String), email: null, role: 'operator' },
  ]);
  const signed = await signIn(key);
  expect([signed.status, signed.body.member.id]).toEqual([200, accepted.body.member.id]);
  const listed = await browser.call('GET', '/passkeys');
  expect(listed.body).toEqual({
    passkeys: [
      {
        id: expect.any(String),
        label: expect.any(String),
        created_at: expect.any(String),
        last_used_at: expect.any(String),
      },
    ],
    has_password: false,
  });
});

describe('a new passkey is refused', () => {
  test.each([
    ['made by a page of another origin', { origin: 'http://localhost:3001' }],
    ['made for another host', { party: 'elsewhere.example' }],
    ['made without asking its owner', { unverified: true }],
  ])('%s', async (_, given) => {
    const browser = await signedInAs(api, shop, 'analyst');
    const refused = await addPasskey(browser, device(), given);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { error: { details: [{ path: 'passkey' }] } },
    ]);
  });

  test('for the options of another member, for an old challenge, and for one that was answered', async () => {
    const [ann, bob] = [await signedInAs(api, shop, 'analyst'), await signedInAs(api, shop, 'analyst')];
    const add = async (passkey: object) =>
      (await ann.call('POST', '/passkeys', { body: { passkey } })).status;
    expect(await add(device().create(await optionsOf(bob, '/passkeys/options')))).toBe(400);
    const old = await optionsOf(ann, '/passkeys/options');
    await api.stores.pool.query(
      `UPDATE passkey_challenges SET expires_at = expires_at - interval '5 minutes' WHERE challenge = $1`,
      [old.challenge],
    );
    expect(await add(device().create(old))).toBe(400);
    const options = await optionsOf(ann, '/passkeys/options');
    expect(await add(device().create(options))).toBe(201);
    expect(await add(device().create(options))).toBe(400);
    const forSignIn = await optionsOf(stranger(), '/session/passkey/options');
    expect(await add(device().create(forSignIn))).toBe(400);
  });

  test('when it is already registered', async () => {
    const [ann, bob] = [await signedInAs(api, shop, 'analyst'), await signedInAs(api, shop, 'analyst')];
    const key = device();
    expect((await addPasskey(ann, key)).status).toBe(201);
    expect((await addPasskey(bob, key)).status).toBe(409);
  });
});

describe('a sign-in is refused', () => {
  test.each([
    ['from a page of another origin', { origin: 'https://phish.example' }],
    ['for another host', { party: 'phish.example' }],
    ['without asking its owner', { unverified: true }],
    ['by a copy, whose counter falls back', { counter: 1 }],
  ])('%s', async (_, given) => {
    const browser = await signedInAs(api, shop, 'analyst');
    const key = device();
    await addPasskey(browser, key);
    expect((await signIn(key)).status).toBe(200);
    expect((await signIn(key, given)).status).toBe(401);
    expect((await signIn(key)).status).toBe(200);
  });

  test('with an answer that was given before', async () => {
    const browser = await signedInAs(api, shop, 'analyst');
    const key = device();
    await addPasskey(browser, key);
    const options = await optionsOf(stranger(), '/session/passkey/options');
    const answer = () =>
      stranger().call('POST', '/session/passkey', { body: { passkey: key.sign(options) } });
    expect((await answer()).status).toBe(200);
    expect((await answer()).status).toBe(401);
  });

  test('with the signature of another passkey', async () => {
    const browser = await signedInAs(api, shop, 'analyst');
    const [key, other] = [device(), device()];
    await addPasskey(browser, key);
    expect(
      (
        await signIn({
          ...other,
          sign: (...given) => ({ ...other.sign(...given), id: key.id, rawId: key.id }),
        })
      ).status,
    ).toBe(401);
    expect((await signIn(other)).status).toBe(401);
  });

  test('after thirty wrong ones from an address, for a minute', async () => {
    const browser = stranger();
    const key = device();
    const wrong = async () => {
      const options = await optionsOf(browser, '/session/passkey/options');
      return browser.call('POST', '/session/passkey', { body: { passkey: key.sign(options) } });
    };
    for (let count = 0; count < 30; count++) {
      expect((await wrong()).status).toBe(401);
      // On a busy machine thirty attempts may take longer than the minute in which they count.
      await api.stores.pool.query(
        `UPDATE sign_in_attempts SET tried_at = ARRAY(SELECT clock_timestamp() FROM unnest(tried_at)),
           locked_until = CASE WHEN locked_until IS NOT NULL THEN clock_timestamp() + interval '1 minute' END`,
      );
    }
    expect((await wrong()).status).toBe(429);
  });
});

test('a removed passkey can not sign in, and the last credential can not be removed', async () => {
  const browser = await signedInAs(api, shop, 'analyst');
  const key = device();
  const added = await addPasskey(browser, key);
  const remove = (from: ConsoleBrowser) => from.call('DELETE', `/passkeys/${added.body.id}`);
  expect((await remove(await signedInAs(api, shop, 'owner'))).status).toBe(404);
  await api.stores.pool.query('UPDATE members SET password_hash = NULL WHERE id = $1', [browser.id]);
  expect((await remove(browser)).status).toBe(409);
  expect((await signIn(key)).status).toBe(200);
  expect(
    (await browser.call('POST', '/session/password', { body: { password: 'a new password' } })).status,
  ).toBe(200);
  expect((await remove(browser)).status).toBe(200);
  expect((await signIn(key)).status).toBe(401);
});

test('passkeys belong to the host of APP_URL, on this machine to localhost, and to no other address', () => {
  expect(relyingParty('https://app.example')).toEqual({
    id: 'app.example',
    origins: ['https://app.example'],
  });
  expect(relyingParty('http://127.0.0.1:3000')).toEqual({
    id: 'localhost',
    origins: ['http://localhost:3000'],
  });
  expect(relyingParty('http://[::1]:3000')?.id).toBe('localhost');
  expect(relyingParty('http://192.0.2.1')).toBeNull();
  expect(relyingParty('http://[2001:db8::1]')).toBeNull();
});

test('where APP_URL has an IP address the API refuses passkeys', async () => {
  const other = await testApi(({ config }) => ({ config: { ...config, appUrl: 'http://192.0.2.1' } }));
  try {
    const answer = await consoleBrowser(other).call('POST', '/session/passkey/options');
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
  } finally {
    await other.close();
  }
});
