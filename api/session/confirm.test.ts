import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { authenticator } from '../../test/support/authenticator.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { type ConsoleBrowser, consoleBrowser, PASSWORD, signedInAs } from '../../test/support/members.ts';

beforeAll(async () => {
  // With a fixed time, a code is checked in the time step that it was created in.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterAll(async () => {
  vi.useRealTimers();
});

const owner = (api: TestApi, shop: TestWorkspace) => signedInAs(api, shop, 'owner');
const device = () => authenticator('http://localhost:3000', 'localhost');

/** Moves the last proof of a member's sessions into the past. */
const age = (api: TestApi, memberId: string, minutes: number) =>
  api.stores.pool.query(
    `UPDATE sessions SET confirmed_at = now() - $2 * interval '1 minute' WHERE member_id = $1`,
    [memberId, minutes],
  );

async function optionsOf(browser: ConsoleBrowser, path: string) {
  return (await browser.call<{ challenge: string }>('POST', path)).body;
}

const ANY = crypto.randomUUID();
/** Changes of access, with their status for a member whose sign-in is recent. */
const CHANGES = [
  ['POST', '/keys', { kind: 'publishable' }, 201],
  ['DELETE', `/keys/${ANY}`, undefined, 404],
  ['POST', '/members/invites', { role: 'analyst' }, 201],
  ['PATCH', `/members/${ANY}`, { role: 'analyst' }, 404],
  ['DELETE', `/members/${ANY}`, undefined, 404],
  ['POST', '/identity-secret', {}, 201],
  ['POST', '/passkeys/options', undefined, 200],
  ['POST', '/passkeys', { passkey: device().create({ challenge: 'none' }) }, 400],
  ['DELETE', `/passkeys/${ANY}`, undefined, 404],
  ['POST', '/session/password', { current_password: 'not it', password: 'a longer phrase of words' }, 400],
  ['POST', '/two-factor/setup', undefined, 200],
  ['POST', '/two-factor', { code: '000000' }, 400],
  ['POST', '/two-factor/recovery-codes', undefined, 409],
  ['DELETE', '/two-factor', undefined, 409],
] as const;

test.for(CHANGES)(
  '%s %s needs a proof of the last ten minutes',
  async ([method, path, body, status], { api, shop }) => {
    const browser = await owner(api, shop);
    const call = () => browser.call(method, path, body === undefined ? {} : { body });
    await browser.call('POST', '/two-factor/setup');
    await age(api, browser.id, 9);
    expect((await call()).status).toBe(status);
    await age(api, browser.id, 11);
    const refused = await call();
    expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
      403,
      'forbidden',
      [{ path: 'session', message: expect.any(String), code: 'confirmation_required' }],
    ]);
    expect((await browser.call('POST', '/session/confirm', { body: { password: PASSWORD } })).status).toBe(
      200,
    );
    expect((await call()).status).toBe(status);
  },
);

test('reads, other changes and keys need none', async ({ api, shop }) => {
  const browser = await owner(api, shop);
  await age(api, browser.id, 11);
  expect((await browser.call('GET', '/keys')).status).toBe(200);
  expect((await browser.call('PATCH', '/workspace', { body: { payout_hold_days: 4 } })).status).toBe(200);
  expect((await shop.post('/keys', { kind: 'publishable' })).status).toBe(201);
});

test('a role that may not make the change is told so, not asked to confirm', async ({ api, shop }) => {
  const analyst = await signedInAs(api, shop, 'analyst');
  await age(api, analyst.id, 11);
  const refused = await analyst.call('POST', '/keys', { body: { kind: 'secret' } });
  expect([refused.status, refused.body.error.details]).toEqual([403, undefined]);
});

describe('a confirmation', () => {
  test('is by password, code or passkey, and counts for its session only', async ({ api, shop }) => {
    const browser = await owner(api, shop);
    const other = consoleBrowser(api);
    await other.call('POST', '/session', { body: { email: browser.email, password: PASSWORD } });
    const key = device();
    await browser.call('POST', '/passkeys', {
      body: { passkey: key.create(await optionsOf(browser, '/passkeys/options')) },
    });
    const { secret } = (await browser.call<{ secret: string }>('POST', '/two-factor/setup')).body;
    const epoch = Math.floor(Date.now() / 1_000);
    const enabled = await browser.call<{ recovery_codes: string[] }>('POST', '/two-factor', {
      body: { code: generateSync({ secret, epoch: epoch - 30 }) },
    });
    expect((await browser.call('GET', '/session/confirm')).body).toEqual({
      password: true,
      code: true,
      passkey: true,
      provider: null,
    });
    const proofs = [
      async () => ({ password: PASSWORD }),
      async () => ({ code: generateSync({ secret, epoch }) }),
      async () => ({ code: enabled.body.recovery_codes[0] }),
      async () => ({ passkey: key.sign(await optionsOf(browser, '/session/passkey/options')) }),
    ];
    for (const proof of proofs) {
      await age(api, browser.id, 11);
      const body = await proof();
      expect((await browser.call('POST', '/session/confirm', { body })).status).toBe(200);
      expect((await browser.call('POST', '/identity-secret', { body: {} })).status).toBe(201);
      expect((await other.call('POST', '/identity-secret', { body: {} })).status).toBe(403);
    }
  });

  test('with a wrong proof, or that of another member, is refused and counted', async ({ api, shop }) => {
    const browser = await owner(api, shop);
    const other = await owner(api, shop);
    const key = device();
    await other.call('POST', '/passkeys', {
      body: { passkey: key.create(await optionsOf(other, '/passkeys/options')) },
    });
    await age(api, browser.id, 11);
    const confirm = (body: object) => browser.call('POST', '/session/confirm', { body });
    const wrong: [string, object][] = [
      ['password', { password: 'a wrong password' }],
      ['code', { code: '123456' }],
      ['passkey', { passkey: key.sign(await optionsOf(browser, '/session/passkey/options')) }],
      ['password', {}],
      ['password', { password: PASSWORD, code: '123456' }],
    ];
    for (const [path, body] of wrong) {
      const refused = await confirm(body);
      expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, path]);
    }
    for (let n = 0; n < 2; n++) expect((await confirm({ password: 'a wrong password' })).status).toBe(400);
    expect((await confirm({ password: PASSWORD })).status).toBe(429);
    expect((await browser.call('POST', '/identity-secret', { body: {} })).status).toBe(403);
  });
});
