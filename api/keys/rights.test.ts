import { describe, expect } from 'vitest';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { consoleBrowser, PASSWORD, signedInAs } from '../../test/support/members.ts';
import type { KeyRecord, KeyWithToken } from './schemas.ts';

type Invite = { invite: { url: string } };

async function make(shop: TestWorkspace, body: object = {}, key = shop.secretKey): Promise<KeyWithToken> {
  const made = await shop.post<KeyWithToken>('/keys', { kind: 'secret', ...body }, { key });
  expect([made.status, made.text]).toEqual([201, made.text]);
  return made.body;
}

/** A key with `manage`, created by the operator. */
async function managing(api: TestApi, shop: TestWorkspace, more: { expiresAt?: Date } = {}) {
  const given = { workspaceId: shop.workspace.id, kind: 'secret', label: 'leaked', ...more } as const;
  const { key, token } = await createKey(api.stores.pool, given);
  return { id: key.id, token };
}

async function listed(shop: TestWorkspace, id: string): Promise<KeyRecord | undefined> {
  return (await shop.get<{ keys: KeyRecord[] }>('/keys')).body.keys.find((key) => key.id === id);
}

/** Accepts an invitation that `key` makes. Returns the member's browser. */
async function inviteBy(api: TestApi, shop: TestWorkspace, key: string, email: string) {
  const made = await shop.post<Invite>('/members/invites', { email, role: 'owner' }, { key });
  expect(made.status).toBe(201);
  const browser = consoleBrowser(api);
  const token = made.body.invite.url.split('#')[1];
  expect(
    (await browser.call('POST', '/session/invite', { body: { token, password: PASSWORD } })).status,
  ).toBe(200);
  return browser;
}

const works = async (shop: TestWorkspace, key: string) => (await shop.get('/me', { key })).status;

describe('manage', () => {
  apiTest.for([
    ['GET', '/keys', undefined],
    ['POST', '/keys', { kind: 'secret' }],
    ['DELETE', '/keys/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', undefined],
    ['GET', '/members', undefined],
    ['POST', '/members/invites', { role: 'owner' }],
    ['PATCH', '/members/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', { role: 'owner' }],
    ['DELETE', '/members/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', undefined],
    ['PATCH', '/workspace', { payout_hold_days: 0 }],
    ['POST', '/identity-secret', {}],
  ] as const)('a key without it is refused %s %s', async ([method, path, body], { shop }) => {
    const { token: key } = await make(shop);
    const call = body === undefined ? { key } : { key, body };
    const refused = await shop.call(method, path, call);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect(refused.body.error.message).toContain('`manage`');
    expect((await shop.get('/workspace', { key })).status).toBe(200);
  });

  apiTest(
    'is of the keys of the operator, not of those of a key, a member or a partner',
    async ({ api, shop }) => {
      expect((await shop.get('/me')).body).toMatchObject({ key: { manage: true, scopes: ['secret'] } });
      const ofKey = await make(shop);
      expect((await shop.get('/me', { key: ofKey.token })).body).toMatchObject({ key: { manage: false } });
      const owner = await signedInAs(api, shop, 'owner');
      const ofMember = await owner.call<KeyWithToken>('POST', '/keys', { body: { kind: 'secret' } });
      expect(ofMember.body).toMatchObject({ manage: false, created_by: { type: 'member', id: owner.id } });
      const { token: partnerKey } = await createPartner(api.stores.pool, 'Platform');
      const provisioned = await shop.post<{ key: string }>(
        '/partner/workspaces',
        { external_id: crypto.randomUUID(), name: 'N' },
        { key: partnerKey },
      );
      expect((await shop.get('/me', { key: provisioned.body.key })).body).toMatchObject({
        key: { manage: false },
      });
      expect((await shop.post('/keys', { kind: 'secret' }, { key: provisioned.body.key })).status).toBe(403);
    },
  );

  apiTest('is given by a member, not by a key', async ({ api, shop }) => {
    const refused = await shop.post('/keys', { kind: 'secret', manage: true });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    const owner = await signedInAs(api, shop, 'owner');
    const body = { kind: 'secret', manage: true };
    const made = await owner.call<KeyWithToken>('POST', '/keys', { body });
    expect(made.body.manage).toBe(true);
    expect((await shop.get('/keys', { key: made.body.token })).status).toBe(200);
  });

  apiTest('is not needed by a key that revokes itself, and by no other revocation', async ({ shop }) => {
    const [own, other] = [await make(shop), await make(shop)];
    const key = own.token;
    expect((await shop.delete(`/keys/${other.id}`, { key })).status).toBe(403);
    expect((await shop.delete(`/keys/${own.id}?descendants=true`, { key })).status).toBe(403);
    expect((await shop.delete(`/keys/${own.id.toUpperCase()}`, { key })).status).toBe(200);
    expect(await works(shop, key)).toBe(401);
  });
});

describe('the maker of a key', () => {
  apiTest('is shown with it', async ({ shop }) => {
    const { key: own } = (await shop.get<{ key: { id: string } }>('/me')).body;
    const made = await make(shop);
    expect(made.created_by).toEqual({ type: 'key', id: own.id });
    expect(await listed(shop, made.id)).toMatchObject({ created_by: made.created_by });
    expect(await listed(shop, own.id)).toMatchObject({ created_by: { type: 'operator', id: null } });
  });

  apiTest('that is revoked while it makes a key makes none', async ({ api, shop }) => {
    const leaked = await managing(api, shop);
    const { pool } = api.stores;
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [shop.workspace.id]);
      const making = shop.post('/keys', { kind: 'secret' }, { key: leaked.token });
      await expect
        .poll(async () => {
          const { rows } = await pool.query(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return rows.length;
        })
        .toBe(1);
      await client.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [leaked.id]);
      await client.query('COMMIT');
      expect((await making).status).toBe(401);
    } finally {
      client.release();
    }
  });
});

describe('a revocation with descendants', () => {
  apiTest(
    'takes the keys and members that a key made, and what those made; without it they are counted',
    async ({ api, shop }) => {
      const owner = await signedInAs(api, shop, 'owner');
      const leaked = await managing(api, shop);
      const child = await make(shop, {}, leaked.token);
      const planted = await inviteBy(api, shop, leaked.token, 'planted@members.example');
      const grandchild = await planted.call<KeyWithToken>('POST', '/keys', {
        body: { kind: 'secret', manage: true },
      });
      const second = await inviteBy(api, shop, grandchild.body.token, 'second@members.example');
      const bystander = await make(shop);
      const open = await shop.post<Invite>(
        '/members/invites',
        { role: 'owner' },
        { key: grandchild.body.token },
      );

      const first = await owner.call<object>('DELETE', `/keys/${leaked.id}`);
      expect(first.body).toEqual({ ok: true, descendants: { keys: 2, members: 2, ended: false } });
      expect([await works(shop, leaked.token), await works(shop, child.token)]).toEqual([401, 200]);

      const all = await owner.call<object>('DELETE', `/keys/${leaked.id}?descendants=true`);
      expect(all.body).toEqual({ ok: true, descendants: { keys: 2, members: 2, ended: true } });
      expect([await works(shop, child.token), await works(shop, grandchild.body.token)]).toEqual([401, 401]);
      for (const browser of [planted, second])
        expect((await browser.call('GET', '/session')).status).toBe(401);
      const token = open.body.invite.url.split('#')[1];
      expect(
        (await consoleBrowser(api).call('POST', '/session/invite/view', { body: { token } })).status,
      ).toBe(401);
      expect([await works(shop, bystander.token), await works(shop, shop.secretKey)]).toEqual([200, 200]);
      expect((await owner.call('GET', '/session')).status).toBe(200);
    },
  );

  apiTest('leaves the member who calls, and what that member made', async ({ api, shop }) => {
    const first = await managing(api, shop);
    const owner = await inviteBy(api, shop, first.token, 'owner@members.example');
    const own = await owner.call<KeyWithToken>('POST', '/keys', { body: { kind: 'secret' } });
    const { body } = await owner.call<object>('DELETE', `/keys/${first.id}?descendants=true`);
    expect(body).toMatchObject({ descendants: { keys: 0, members: 0 } });
    expect((await owner.call('GET', '/session')).status).toBe(200);
    expect(await works(shop, own.body.token)).toBe(200);
  });

  apiTest('is part of a rotation of a partner', async ({ api, shop }) => {
    const { token: partnerKey } = await createPartner(api.stores.pool, 'Platform');
    const provision = async (rotate_key: boolean) =>
      (
        await shop.post<{ key: string; workspace: { id: string } }>(
          '/partner/workspaces',
          { external_id: shop.workspace.id, name: 'N', rotate_key },
          { key: partnerKey },
        )
      ).body;
    const { key: old } = await provision(false);
    // The operator may have given the key `manage`.
    await api.stores.pool.query('UPDATE api_keys SET manage = true WHERE lookup = $1', [old.split('_')[2]]);
    const child = await make(shop, {}, old);
    const planted = await inviteBy(api, shop, old, 'planted@members.example');
    await provision(true);
    expect([await works(shop, old), await works(shop, child.token)]).toEqual([401, 401]);
    expect((await planted.call('GET', '/session')).status).toBe(401);
  });
});

describe('a key that expires', () => {
  const soon = () => new Date(Date.now() + 3_600_000);

  apiTest('is refused from then on, and so are its invitations', async ({ api, shop }) => {
    const expiresAt = soon();
    const { id, token } = await managing(api, shop, { expiresAt });
    expect(await listed(shop, id)).toMatchObject({
      expires_at: expiresAt.toISOString().replace('Z', '000Z'),
    });
    const invited = await shop.post<Invite>('/members/invites', { role: 'owner' }, { key: token });
    expect(await works(shop, token)).toBe(200);
    await api.stores.pool.query(
      `UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    const refused = await shop.get('/me', { key: token });
    expect([refused.status, refused.body.error.message]).toEqual([401, 'this key has expired']);
    const body = { token: invited.body.invite.url.split('#')[1] };
    expect((await consoleBrowser(api).call('POST', '/session/invite/view', { body })).status).toBe(401);
  });

  apiTest('gives its own end to the keys that it makes, at the latest', async ({ api, shop }) => {
    const { token } = await managing(api, shop, { expiresAt: soon() });
    const own = (await shop.get<{ key: { expires_at: string } }>('/me', { key: token })).body.key.expires_at;
    const child = await make(shop, {}, token);
    expect(Date.parse(child.expires_at ?? '')).toBe(Date.parse(own));
    const later = { kind: 'secret', expires_at: new Date(Date.now() + 7_200_000).toISOString() };
    expect((await shop.post('/keys', later, { key: token })).status).toBe(403);
  });
});

describe('a restricted key', () => {
  const LINK = { destination_url: 'https://shop.example', name: 'N', channel: 'x' };
  const CALLS = {
    me: ['GET', '/me', undefined],
    'reads links': ['GET', '/links', undefined],
    'makes a link': ['POST', '/links', LINK],
    'reads clicks': ['GET', '/clicks', undefined],
    'reads programs': ['GET', '/programs', undefined],
    enrolls: ['POST', '/referrals/enroll', { external_user_id: 'u' }],
    // This GET enrolls.
    'gets stats': ['GET', '/referrals/stats?external_user_id=u', undefined],
    tracks: ['POST', '/track/identify', {}],
    'lists webhooks': ['GET', '/webhooks', undefined],
    'makes a webhook': ['POST', '/webhooks', {}],
    manages: ['GET', '/keys', undefined],
  } as const;

  apiTest.for([
    [['read'], ['me', 'reads links', 'reads clicks', 'reads programs', 'lists webhooks']],
    [['links'], ['me', 'reads links', 'makes a link']],
    [['referrals'], ['me', 'reads programs', 'enrolls', 'gets stats']],
    [['tracking'], ['me', 'tracks']],
    [
      ['read', 'tracking'],
      ['me', 'reads links', 'reads clicks', 'reads programs', 'tracks', 'lists webhooks'],
    ],
  ] as const)('to %j may do that only', async ([scopes, may], { shop }) => {
    const { token: key } = await make(shop, { scopes });
    const allowed: string[] = [];
    for (const [name, [method, path, body]] of Object.entries(CALLS)) {
      const { status } = await shop.call(method, path, body === undefined ? { key } : { key, body });
      expect([name, status]).not.toEqual([name, 401]);
      if (status !== 403) allowed.push(name);
    }
    expect(allowed).toEqual(may);
    expect((await shop.get('/me', { key })).body).toMatchObject({ key: { scopes } });
  });

  apiTest('that manages makes keys within its own scopes', async ({ api, shop }) => {
    const owner = await signedInAs(api, shop, 'owner');
    const body = { kind: 'secret', manage: true, scopes: ['read', 'links'] };
    const { token } = (await owner.call<KeyWithToken>('POST', '/keys', { body })).body;
    expect((await make(shop, {}, token)).scopes).toEqual(['read', 'links']);
    expect((await make(shop, { scopes: ['read'] }, token)).scopes).toEqual(['read']);
    const more = { kind: 'secret', scopes: ['tracking'] };
    expect((await shop.post('/keys', more, { key: token })).status).toBe(403);
  });

  apiTest.for([
    ['scopes', { kind: 'secret', scopes: [] }],
    ['scopes.0', { kind: 'secret', scopes: ['manage'] }],
    ['scopes', { kind: 'publishable', scopes: ['read'] }],
    ['manage', { kind: 'publishable', manage: true }],
    ['expires_at', { kind: 'publishable', expires_at: '2999-01-01' }],
    ['expires_at', { kind: 'secret', expires_at: '2020-01-01' }],
    ['expires_at', { kind: 'secret', expires_at: 'soon' }],
  ] as const)('a wrong %s is a 400 that names it: %j', async ([path, body], { shop }) => {
    const refused = await shop.post('/keys', body);
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, path]);
  });
});

describe('an invitation for the email of a member', () => {
  apiTest(
    'is made by that member only: a key and another owner can not take the account over',
    async ({ api, shop }) => {
      const victim = await signedInAs(api, shop, 'owner');
      const other = await signedInAs(api, shop, 'owner');
      const body = { email: victim.email, role: 'owner' };
      const byKey = await shop.post('/members/invites', body);
      const byOwner = await other.call('POST', '/members/invites', { body });
      expect([byKey.status, byOwner.status]).toEqual([409, 409]);
      expect((await victim.call('POST', '/members/invites', { body })).status).toBe(201);
    },
  );

  apiTest(
    'that was made before the member was there does not let anyone in as that member',
    async ({ api, shop }) => {
      const email = 'newcomer@members.example';
      const made = await shop.post<Invite>('/members/invites', { email, role: 'owner' });
      const member = await signedInAs(api, shop, 'owner', { email });
      const accepted = await consoleBrowser(api).call('POST', '/session/invite', {
        body: { token: made.body.invite.url.split('#')[1], password: 'a password of the thief' },
      });
      expect([accepted.status, accepted.body.error.code]).toEqual([409, 'conflict']);
      expect((await member.call('GET', '/session')).status).toBe(200);
    },
  );
});
