import { expect } from 'vitest';
import { hashSessionToken } from '../../core/access/session-tokens.ts';
import { consumeInvite, endInvitesOf } from '../../sql/console/invites.ts';
import { removeMember, setPassword } from '../../sql/console/members.ts';
import { endOtherSessions } from '../../sql/console/sessions.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import type { TestApi } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { heldTransaction } from '../../test/support/held-transaction.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  invite,
  PASSWORD,
  signedInAs,
} from '../../test/support/members.ts';

let addresses = 0;
const elsewhere = () => `198.51.100.${++addresses}`;

/**
 * Signs a member in with a password that is right when it is checked, while `change` is under way. `change` commits
 * once the sign-in waits for it.
 */
async function signInDuring(api: TestApi, email: string, change: (tx: Queryable) => Promise<void>) {
  const browser = consoleBrowser(api, elsewhere());
  const answer = await heldTransaction(api.stores.pool, async (tx) => {
    await change(tx);
    const call = browser.call('POST', '/session', { body: { email, password: PASSWORD } });
    await expect.poll(() => waiting(api)).toBe(1);
    return { call };
  });
  return { browser, ...(await answer.call) };
}

async function waiting(api: TestApi): Promise<number> {
  const { rows } = await api.stores.pool.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length;
}

test('a password that is changed while it is checked can not sign in', async ({ api, shop }) => {
  const { id, email } = await signedInAs(api, shop, 'operator');
  const { status, body, browser } = await signInDuring(api, email, async (tx) => {
    await setPassword(tx, id, 'another hash');
    await endOtherSessions(tx, id, null);
  });
  expect([status, body.error?.code, browser.token]).toEqual([401, 'unauthorized', null]);
  const { rows } = await api.stores.pool.query('SELECT 1 FROM sessions WHERE member_id = $1', [id]);
  expect(rows).toEqual([]);
});

test('a member who is removed while the password is checked is refused', async ({ api, shop }) => {
  const { id, email } = await signedInAs(api, shop, 'operator');
  const { status, body } = await signInDuring(api, email, (tx) => removeMember(tx, id));
  expect([status, body.error?.code]).toEqual([401, 'unauthorized']);
});

test('an invitation that gives a member a new password ends a concurrent sign-in with the old one', async ({
  api,
  shop,
}) => {
  const { id, email } = await signedInAs(api, shop, 'operator');
  const token = await invite(api, shop, { email });
  const other = consoleBrowser(api);
  // Holds the member's row like a sign-in that inserts its session only later.
  const accepted = await heldTransaction(api.stores.pool, async (tx) => {
    await tx.query('UPDATE members SET last_seen_at = now() WHERE id = $1', [id]);
    const call = other.call('POST', '/session/invite', { body: { token, password: 'the new password' } });
    await expect.poll(() => waiting(api)).toBe(1);
    await tx.query(
      `INSERT INTO sessions (id, token_hash, workspace_id, member_id, user_agent, expires_at)
       VALUES (gen_random_uuid(), sha256('late'), $1, $2, 'late', now() + interval '1 day')`,
      [shop.workspace.id, id],
    );
    return { call };
  });
  expect((await accepted.call).status).toBe(200);
  const { rows } = await api.stores.pool.query('SELECT user_agent FROM sessions WHERE member_id = $1', [id]);
  expect(rows.filter((row) => row.user_agent === 'late')).toEqual([]);
});

test('of two invitations for one email that are accepted at once, the second ends what the first one gave', async ({
  api,
  shop,
}) => {
  const email = 'twice@members.example';
  const tokens = [await invite(api, shop, { email }), await invite(api, shop, { email })];
  // The first acceptance replaces the member's session. While the test holds that session, the member exists and its
  // new session does not.
  const first = await signedInAs(api, shop, 'analyst');
  const accept = (browser: ConsoleBrowser, token: string | undefined, password: string) =>
    browser.call('POST', '/session/invite', { body: { token, password } });
  const begun = await heldTransaction(api.stores.pool, async (tx) => {
    await tx.query('SELECT 1 FROM sessions WHERE member_id = $1 FOR UPDATE', [first.id]);
    const call = accept(first, tokens[0], PASSWORD);
    await expect.poll(() => waiting(api)).toBe(1);
    expect((await accept(consoleBrowser(api), tokens[1], 'the second password')).status).toBe(200);
    return { call };
  });
  expect((await begun.call).status).toBe(401);
});

test('an invitation that is revoked while its acceptance waits for the workspace is refused', async ({
  api,
  shop,
}) => {
  const { pool } = api.stores;
  const { id, email } = await signedInAs(api, shop, 'operator');
  const hash = hashSessionToken(await invite(api, shop, { email })) ?? Buffer.alloc(0);
  const taken = await heldTransaction(pool, async (waiter) => {
    await waiter.query('SELECT now()');
    await inTransaction(pool, (tx) => endInvitesOf(tx, id));
    return consumeInvite(waiter, hash);
  });
  expect(taken).toBeNull();
});
