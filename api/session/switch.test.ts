import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  invite,
  PASSWORD,
  signedInAs,
} from '../../test/support/members.ts';
import type { SessionBody, SignInAnswer } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;
let cafe: TestWorkspace;
beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace({ name: 'Shop' });
  cafe = await api.addWorkspace({ name: 'Café' });
});
afterAll(() => api.close());

const OTHER_PASSWORD = 'another phrase of words';
let people = 0;
let email: string;
beforeEach(() => {
  email = `person-${++people}@members.example`;
});

/** Creates a member with this email. The browser that accepts the invitation is discarded. */
async function member(
  workspace: TestWorkspace,
  password = PASSWORD,
): Promise<ConsoleBrowser & { id: string }> {
  const browser = consoleBrowser(api, `203.0.113.${people}`);
  const token = await invite(api, workspace, { email });
  const { status, body } = await browser.call<SessionBody>('POST', '/session/invite', {
    body: { token, password },
  });
  expect(status).toBe(200);
  return Object.assign(browser, { id: body.member.id });
}

const signIn = (browser: ConsoleBrowser, workspace: TestWorkspace, more: object = {}) =>
  browser.call<SignInAnswer>('POST', '/session', {
    body: { email, password: PASSWORD, workspace_id: workspace.workspace.id, ...more },
  });
const change = (browser: ConsoleBrowser, id: string) =>
  browser.call<SessionBody>('POST', '/session/switch', { body: { member_id: id } });
const session = async (browser: ConsoleBrowser) => (await browser.call<SessionBody>('GET', '/session')).body;
const others = async (browser: ConsoleBrowser) =>
  (await session(browser)).other_workspaces.map(({ name }) => name);
const stranger = () => consoleBrowser(api, `198.51.100.${people}`);

test('a password that fits two workspaces signs in to both, and the browser switches between them', async () => {
  const inCafe = await member(cafe);
  const inShop = await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  const before = { token: browser.token, csrf: browser.csrf };
  expect((await session(browser)).other_workspaces).toEqual([
    { member_id: inCafe.id, id: cafe.workspace.id, name: 'Café', email, role: 'owner' },
  ]);
  const switched = await change(browser, inCafe.id);
  expect([switched.status, switched.body.workspace.name]).toEqual([200, 'Café']);
  expect(await session(browser)).toEqual(switched.body);
  expect(await others(browser)).toEqual(['Shop']);
  expect((await browser.call('POST', '/folders', { body: { name: 'Of the café' } })).status).toBe(201);
  expect((await shop.get('/folders')).text).not.toContain('Of the café');
  // The cookie from before the switch is invalid.
  const stale = Object.assign(consoleBrowser(api), before);
  expect((await stale.call('GET', '/session')).status).toBe(401);
  expect((await change(stale, inShop.id)).status).toBe(401);
  expect((await change(browser, inShop.id)).body.workspace.name).toBe('Shop');
  const { rows } = await api.stores.pool.query(
    `SELECT workspace_id FROM audit_entries WHERE action = 'session.switch' AND actor_id = ANY ($1) ORDER BY at`,
    [[inCafe.id, inShop.id]],
  );
  expect(rows.map((row) => row.workspace_id)).toEqual([cafe.workspace.id, shop.workspace.id]);
});

test('the same email in another workspace gets nothing without its own credentials', async () => {
  const inCafe = await member(cafe, OTHER_PASSWORD);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  expect(await others(browser)).toEqual([]);
  const refused = await change(browser, inCafe.id);
  expect([refused.status, (await session(browser)).workspace.name]).toEqual([404, 'Shop']);
  // Sessions of the member in other browsers do not count either.
  expect((await session(inCafe)).workspace.name).toBe('Café');
  await signIn(browser, cafe, { password: OTHER_PASSWORD, keep: true });
  expect([(await session(browser)).workspace.name, await others(browser)]).toEqual(['Café', ['Shop']]);
  expect(await others(inCafe)).toEqual([]);
});

test('a session that waits in a browser opens in no other one', async () => {
  const inCafe = await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  expect(await others(browser)).toEqual(['Café']);
  const another = await signedInAs(api, shop, 'owner');
  expect((await change(another, inCafe.id)).status).toBe(404);
  expect((await session(another)).workspace.name).toBe('Shop');
  expect((await change(browser, inCafe.id)).body.workspace.name).toBe('Café');
});

test('a workspace with a second factor is joined by its code only', async () => {
  const inCafe = await member(cafe);
  const { secret } = (await inCafe.call<{ secret: string }>('POST', '/two-factor/setup')).body;
  const enabled = await inCafe.call<{ recovery_codes: string[] }>('POST', '/two-factor', {
    body: { code: generateSync({ secret }) },
  });
  expect(enabled.status).toBe(201);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  expect([await others(browser), (await change(browser, inCafe.id)).status]).toEqual([[], 404]);
  const asked = await signIn(browser, cafe, { keep: true });
  expect([asked.body.code_required, (await session(browser)).workspace.name]).toEqual([true, 'Shop']);
  const [code] = enabled.body.recovery_codes;
  expect((await signIn(browser, cafe, { keep: true, code })).body.session?.other_workspaces).toMatchObject([
    { name: 'Shop' },
  ]);
});

test.each([
  ['the member is removed', async (id: string) => (await cafe.call('DELETE', `/members/${id}`)).status],
  [
    'the password changes in another browser',
    async (_: string, elsewhere: ConsoleBrowser) =>
      (
        await elsewhere.call('POST', '/session/password', {
          body: { current_password: PASSWORD, password: OTHER_PASSWORD },
        })
      ).status,
  ],
  [
    'another browser ends the other sessions',
    async (_: string, elsewhere: ConsoleBrowser) => (await elsewhere.call('DELETE', '/sessions')).status,
  ],
])('a waiting session ends when %s', async (_, end) => {
  const inCafe = await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  expect(await others(browser)).toEqual(['Café']);
  expect(await end(inCafe.id, inCafe)).toBe(200);
  expect([await others(browser), (await change(browser, inCafe.id)).status]).toEqual([[], 404]);
});

test('a waiting session that expired, or whose workspace is suspended, is not opened', async () => {
  const inCafe = await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  const suspend = (at: string) =>
    api.stores.pool.query(`UPDATE workspaces SET suspended_at = ${at} WHERE id = $1`, [cafe.workspace.id]);
  await suspend('now()');
  expect([await others(browser), (await change(browser, inCafe.id)).status]).toEqual([[], 404]);
  await suspend('NULL');
  expect(await others(browser)).toEqual(['Café']);
  await api.stores.pool.query(`UPDATE sessions SET expires_at = now() WHERE member_id = $1`, [inCafe.id]);
  expect([await others(browser), (await change(browser, inCafe.id)).status]).toEqual([[], 404]);
});

test('a switch is no proof that the member is there', async () => {
  const inCafe = await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  await api.stores.pool.query(
    `UPDATE sessions SET confirmed_at = now() - interval '1 hour' WHERE member_id = $1`,
    [inCafe.id],
  );
  await change(browser, inCafe.id);
  const key = await browser.call('POST', '/keys', { body: { kind: 'secret', label: 'x' } });
  expect([key.status, key.body.error.details?.[0]?.code]).toEqual([403, 'confirmation_required']);
});

test('a sign-in without `keep` ends what the browser had, unless the same member signs in again', async () => {
  const inCafe = await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  await signIn(browser, shop);
  expect(await others(browser)).toEqual(['Café']);
  const someone = await signedInAs(api, shop, 'owner');
  const body = { email: someone.email, password: PASSWORD };
  await browser.call('POST', '/session', { body });
  expect([await others(browser), (await change(browser, inCafe.id)).status]).toEqual([[], 404]);
});

test('signing out ends the sessions of the browser in every workspace', async () => {
  await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  expect((await browser.call('DELETE', '/session')).status).toBe(200);
  const { rows } = await api.stores.pool.query(
    `SELECT a.workspace_id FROM audit_entries a JOIN members m ON m.id = a.actor_id
     WHERE a.action = 'session.sign_out' AND m.email = $1`,
    [email],
  );
  expect(rows.map((row) => row.workspace_id).toSorted()).toEqual(
    [cafe.workspace.id, shop.workspace.id].toSorted(),
  );
  const left = await api.stores.pool.query(
    `SELECT 1 FROM sessions s JOIN members m ON m.id = s.member_id WHERE m.email = $1 AND s.token_hash IS NULL`,
    [email],
  );
  expect(left.rows).toEqual([]);
});

test('of two switches at once one is made', async () => {
  const inCafe = await member(cafe);
  await member(shop);
  const browser = stranger();
  await signIn(browser, shop);
  const copy = Object.assign(consoleBrowser(api), { token: browser.token, csrf: browser.csrf });
  const statuses = (await Promise.all([browser, copy].map((one) => change(one, inCafe.id)))).map(
    ({ status }) => status,
  );
  expect(statuses.toSorted()).toEqual([200, 401]);
});

test('an invitation that is accepted with `keep` adds its workspace to the browser', async () => {
  const browser = await member(shop);
  const token = await invite(api, cafe, { email: `second-${people}@members.example` });
  await browser.call('POST', '/session/invite', { body: { token, password: PASSWORD, keep: true } });
  expect([(await session(browser)).workspace.name, await others(browser)]).toEqual(['Café', ['Shop']]);
});
