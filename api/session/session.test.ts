import { describe, expect } from 'vitest';
import type { TestApi } from '../../test/support/api.ts';
import { sharedShopTest } from '../../test/support/fixtures.ts';
import { consoleBrowser, signedInAs } from '../../test/support/members.ts';
import type { SessionBody } from './schemas.ts';

describe('signing out', () => {
  sharedShopTest('ends the session and takes the cookie away', async ({ api, shop }) => {
    const browser = await signedInAs(api, shop, 'analyst');
    const { token } = browser;
    expect((await browser.call('DELETE', '/session')).status).toBe(200);
    expect(browser.setCookie).toMatch(/^hoplog_session=; Max-Age=0; Path=\/;/);
    const kept = Object.assign(consoleBrowser(api), { token });
    expect((await kept.call('GET', '/session')).status).toBe(401);
  });
});

describe('a session', () => {
  const age = (api: TestApi, id: string, column: string, time: string) =>
    api.stores.pool.query(`UPDATE sessions SET ${column} = ${column} - $2::interval WHERE member_id = $1`, [
      id,
      time,
    ]);

  sharedShopTest('ends after 14 days without a call, and lives on with one before', async ({ api, shop }) => {
    const browser = await signedInAs(api, shop, 'analyst');
    await age(api, browser.id, 'last_seen_at', '13 days 23 hours');
    expect((await browser.call('GET', '/session')).status).toBe(200);
    const seen = async () => {
      const { rows } = await api.stores.pool.query(
        `SELECT last_seen_at > now() - interval '1 hour' AS seen FROM sessions WHERE member_id = $1`,
        [browser.id],
      );
      return rows[0]?.seen;
    };
    await expect.poll(seen).toBe(true);
    await age(api, browser.id, 'last_seen_at', '14 days');
    expect((await browser.call('GET', '/session')).status).toBe(401);
  });

  sharedShopTest('ends after 90 days whatever is done with it', async ({ api, shop }) => {
    const browser = await signedInAs(api, shop, 'analyst');
    await age(api, browser.id, 'expires_at', '89 days 23 hours');
    expect((await browser.call('GET', '/session')).status).toBe(200);
    await age(api, browser.id, 'expires_at', '1 hour');
    expect((await browser.call('GET', '/session')).status).toBe(401);
  });

  sharedShopTest(
    'acts for its workspace as a secret key does, and tells of itself in the place of one',
    async ({ api, shop }) => {
      const browser = await signedInAs(api, shop, 'operator');
      const me = await browser.call<{ workspace: { id: string }; key: object }>('GET', '/me');
      expect([me.status, me.body.workspace.id]).toEqual([200, shop.workspace.id]);
      expect(me.body.key).toEqual({
        id: expect.any(String),
        label: browser.email,
        scopes: ['secret'],
        manage: false,
        created_at: expect.any(String),
        expires_at: expect.any(String),
        last_used_at: expect.any(String),
      });
      const made = await browser.call('POST', '/folders', { body: { name: 'Made in the console' } });
      expect(made.status).toBe(201);
      expect((await shop.get('/folders')).text).toContain('Made in the console');
    },
  );

  sharedShopTest(
    'of a workspace whose plan does not cover an endpoint is refused as its keys are',
    async ({ api }) => {
      const free = await api.addWorkspace({ plan: 'free' });
      const browser = await signedInAs(api, free, 'owner');
      const session = await browser.call<SessionBody>('GET', '/session');
      expect(session.body.workspace).toMatchObject({ plan: 'free', paid: false });
      expect((await browser.call('GET', '/webhooks')).status).toBe(402);
      const lapsed = await api.addWorkspace({ plan: 'pro', plan_status: 'past_due' });
      const late = await signedInAs(api, lapsed, 'owner');
      expect((await late.call<SessionBody>('GET', '/session')).body.workspace).toMatchObject({
        plan: 'pro',
        paid: false,
      });
      expect((await late.call('GET', '/webhooks')).status).toBe(402);
    },
  );

  sharedShopTest.for(['', 'x', 'A'.repeat(43), 'a b', '"quoted"', 'é'])(
    'is not found by the cookie %j',
    async (token, { api }) => {
      const browser = Object.assign(consoleBrowser(api), { token });
      expect((await browser.call('GET', '/session')).status).toBe(401);
      expect((await browser.call('GET', '/links')).status).toBe(401);
    },
  );

  sharedShopTest('can not be requested with a key', async ({ shop }) => {
    expect((await shop.get('/session')).status).toBe(401);
    expect((await shop.get('/sessions')).status).toBe(401);
  });
});
