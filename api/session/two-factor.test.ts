import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Answer, ErrorBody, TestApi, TestWorkspace } from '../../test/support/api.ts';
import { authenticator } from '../../test/support/authenticator.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  invite,
  PASSWORD,
  signedInAs,
} from '../../test/support/members.ts';

type SignedIn = { code_required: boolean; session: object | null };
type Member = Awaited<ReturnType<typeof signedInAs>>;

beforeAll(async () => {
  // With a fixed time, a code is checked in the time step that it was created in.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterAll(async () => {
  vi.useRealTimers();
});

let addresses = 0;
const address = () => `198.51.100.${++addresses}`;
const stranger = (api: TestApi) => consoleBrowser(api, address());
const member = (api: TestApi, shop: TestWorkspace) =>
  signedInAs(api, shop, 'operator', { address: address() });
/** Returns a code of the time step that is `steps` from now. */
const codeOf = (secret: string, steps = 0) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + 30 * steps });
/** Returns a code that differs in each digit. */
const wrong = (code: string) => code.replaceAll(/\d/g, (digit) => String((Number(digit) + 5) % 10));

async function enroll(browser: Member) {
  const { secret, uri } = (await browser.call<{ secret: string; uri: string }>('POST', '/two-factor/setup'))
    .body;
  // Uses the previous step, so that the present one is left for a sign-in.
  const enabled = await browser.call<{ recovery_codes: string[] }>('POST', '/two-factor', {
    body: { code: codeOf(secret, -1) },
  });
  expect(enabled.status).toBe(201);
  return { secret, uri, codes: enabled.body.recovery_codes };
}

const signIn = (
  api: TestApi,
  { email }: Pick<Member, 'email'>,
  code?: string,
  browser: ConsoleBrowser = stranger(api),
): Promise<Answer<SignedIn & ErrorBody>> =>
  browser.call('POST', '/session', { body: { email, password: PASSWORD, ...(code && { code }) } });

const outcome = ({ status, body }: Answer<SignedIn & ErrorBody>) => [status, body.code_required];

test('a sign-in needs a code of the app once the member has confirmed one', async ({ api, shop }) => {
  const ann = await member(api, shop);
  const { secret } = (await ann.call<{ secret: string }>('POST', '/two-factor/setup')).body;
  expect(outcome(await signIn(api, ann))).toEqual([200, false]);
  const refused = await ann.call('POST', '/two-factor', { body: { code: wrong(codeOf(secret)) } });
  expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'code']);
  expect(outcome(await signIn(api, ann))).toEqual([200, false]);

  const { secret: second, uri } = await enroll(ann);
  expect(second).not.toBe(secret);
  expect(uri).toContain(`otpauth://totp/Hoplog:${encodeURIComponent(ann.email)}`);
  expect((await ann.call('GET', '/two-factor')).body).toEqual({
    enabled_at: expect.stringMatching(/Z$/),
    recovery_codes: 10,
  });
  const asked = await signIn(api, ann);
  expect(outcome(asked)).toEqual([200, true]);
  expect([asked.body.session, asked.headers['set-cookie']]).toEqual([null, undefined]);
  expect(outcome(await signIn(api, ann, codeOf(secret)))).toEqual([401, undefined]);
  expect(outcome(await signIn(api, ann, codeOf(second)))).toEqual([200, false]);
});

test('a code counts once, at one sign-in of many at once, and an older one not after it', async ({
  api,
  shop,
}) => {
  const ann = await member(api, shop);
  const { secret } = await enroll(ann);
  const code = codeOf(secret);
  const answers = await Promise.all([1, 2, 3, 4].map(() => signIn(api, ann, code)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
  const again = await signIn(api, ann, code);
  expect([again.status, again.body.error.details?.[0]?.path]).toEqual([401, 'code']);
  expect((await signIn(api, ann, codeOf(secret, -1))).status).toBe(401);
  expect((await signIn(api, ann, codeOf(secret, 1))).status).toBe(200);
  expect((await signIn(api, ann, codeOf(secret, 5))).status).toBe(401);
});

test('a recovery code signs in once, as typed, and is stored as a hash', async ({ api, shop }) => {
  const ann = await member(api, shop);
  const { codes } = await enroll(ann);
  expect(new Set(codes).size).toBe(10);
  const [first = '', second = ''] = codes;
  expect(first).toMatch(/^([a-z0-9]{4}-){3}[a-z0-9]{4}$/);
  const { rows } = await api.stores.pool.query('SELECT t::text FROM recovery_codes t WHERE member_id = $1', [
    ann.id,
  ]);
  for (const text of [first, first.replaceAll('-', '')]) expect(JSON.stringify(rows)).not.toContain(text);

  expect((await signIn(api, ann, first.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
  expect((await signIn(api, ann, first)).status).toBe(401);
  expect((await ann.call<{ recovery_codes: number }>('GET', '/two-factor')).body.recovery_codes).toBe(9);
  const next = await ann.call<{ recovery_codes: string[] }>('POST', '/two-factor/recovery-codes');
  expect((await signIn(api, ann, second)).status).toBe(401);
  expect((await signIn(api, ann, next.body.recovery_codes[0])).status).toBe(200);
  expect((await signIn(api, await enrolledOther(api, shop), next.body.recovery_codes[1])).status).toBe(401);
});

async function enrolledOther(api: TestApi, shop: TestWorkspace) {
  const other = await member(api, shop);
  await enroll(other);
  return other;
}

test('wrong codes lock like wrong passwords, and asking for one is no attempt', async ({ api, shop }) => {
  const ann = await member(api, shop);
  const { secret } = await enroll(ann);
  const thief = stranger(api);
  for (let n = 0; n < 7; n++) expect(outcome(await signIn(api, ann, undefined, thief))).toEqual([200, true]);
  for (let n = 0; n < 5; n++) expect((await signIn(api, ann, wrong(codeOf(secret)), thief)).status).toBe(401);
  const locked = await signIn(api, ann, codeOf(secret), thief);
  expect([locked.status, Number(locked.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
  expect((await signIn(api, ann, codeOf(secret))).status).toBe(200);
});

test('after 100 wrong codes in a row only a recovery code counts', async ({ api, shop }) => {
  const ann = await member(api, shop);
  const { secret, codes } = await enroll(ann);
  await api.stores.pool.query('UPDATE authenticator_apps SET wrong_codes = 99 WHERE member_id = $1', [
    ann.id,
  ]);
  expect((await signIn(api, ann, wrong(codeOf(secret)))).status).toBe(401);
  expect((await signIn(api, ann, codeOf(secret))).status).toBe(401);
  expect((await signIn(api, ann, codes[0])).status).toBe(200);
  expect((await signIn(api, ann, codeOf(secret))).status).toBe(200);
});

test('a second app, a member without a password, and codes without an app are refused', async ({
  api,
  shop,
}) => {
  const ann = await member(api, shop);
  expect((await ann.call('POST', '/two-factor', { body: { code: '123456' } })).status).toBe(409);
  expect((await ann.call('POST', '/two-factor/recovery-codes')).status).toBe(409);
  expect((await ann.call('DELETE', '/two-factor')).status).toBe(409);
  await enroll(ann);
  expect((await ann.call('POST', '/two-factor/setup')).status).toBe(409);
  expect((await ann.call('POST', '/two-factor', { body: { code: '123456' } })).status).toBe(409);

  const token = await invite(api, shop, { email: `key-${++addresses}@members.example` });
  const guest = stranger(api);
  const options = await guest.call<{ challenge: string }>('POST', '/session/invite/passkey-options', {
    body: { token },
  });
  const passkey = authenticator('http://localhost:3000', 'localhost').create(options.body);
  expect((await guest.call('POST', '/session/invite', { body: { token, passkey } })).status).toBe(200);
  expect((await guest.call('POST', '/two-factor/setup')).status).toBe(409);
});

test('turned off, a password is enough again, and a removed member leaves no secret', async ({
  api,
  shop,
}) => {
  const ann = await member(api, shop);
  await enroll(ann);
  expect((await ann.call('DELETE', '/two-factor')).status).toBe(200);
  expect(outcome(await signIn(api, ann))).toEqual([200, false]);
  await enroll(ann);
  await shop.delete(`/members/${ann.id}`);
  const { rows } = await api.stores.pool.query(
    `SELECT 1 FROM authenticator_apps WHERE member_id = $1
     UNION ALL SELECT 1 FROM recovery_codes WHERE member_id = $1`,
    [ann.id],
  );
  expect(rows).toEqual([]);
});

test('with one email in two workspaces, the chosen one asks for its own code', async ({ api, shop }) => {
  const email = `two-${++addresses}@members.example`;
  const other = await api.addWorkspace();
  const ann = await signedInAs(api, shop, 'owner', { email });
  await signedInAs(api, other, 'owner', { email });
  const { secret } = await enroll(ann);
  const to = (workspace: TestWorkspace, code?: string) =>
    stranger(api).call<SignedIn>('POST', '/session', {
      body: { email, password: PASSWORD, workspace_id: workspace.workspace.id, ...(code && { code }) },
    });
  expect(
    (await stranger(api).call<SignedIn>('POST', '/session', { body: { email, password: PASSWORD } })).body,
  ).toMatchObject({ session: null, code_required: false, workspaces: [{}, {}] });
  expect((await to(other)).body).toMatchObject({ code_required: false, session: {} });
  expect((await to(shop)).body).toMatchObject({ code_required: true, session: null });
  expect((await to(shop, codeOf(secret))).body).toMatchObject({ code_required: false, session: {} });
});
