import { describe, expect } from 'vitest';
import { createKey } from '../../sql/workspaces/keys.ts';
import type { TestApi } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { consoleBrowser, invite, PASSWORD, signedInAs } from '../../test/support/members.ts';

type Members = { members: { id: string; email: string | null; role: string }[] };
type Invite = {
  invite: { url: string; role: string; email: string | null; expires_at: string; workspace_id: string };
};

const tokenOf = ({ invite }: Invite) => invite.url.split('#')[1] ?? '';

describe('roles', () => {
  test.for([
    ['analyst', 'GET', '/links', 200],
    ['analyst', 'HEAD', '/links', 200],
    ['analyst', 'GET', '/members', 200],
    ['analyst', 'POST', '/folders', 403],
    ['analyst', 'GET', '/referrals/stats?external_user_id=new&email=new@mail.example', 403],
    ['analyst', 'PATCH', '/folders/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', 403],
    ['analyst', 'DELETE', '/folders/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', 403],
    ['analyst', 'POST', '/members/invites', 403],
    ['analyst', 'DELETE', '/sessions', 200],
    ['operator', 'POST', '/folders', 201],
    ['operator', 'GET', '/referrals/stats?external_user_id=new&email=new@mail.example', 404],
    ['operator', 'DELETE', '/folders/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', 404],
    ['operator', 'POST', '/members/invites', 403],
    ['operator', 'PATCH', '/members/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', 403],
    ['operator', 'DELETE', '/members/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', 403],
    ['owner', 'POST', '/folders', 201],
    ['owner', 'POST', '/members/invites', 201],
    ['owner', 'DELETE', '/members/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', 404],
  ] as const)('an %s: %s %s is %i', async ([role, method, path, status], { api, shop }) => {
    const browser = await signedInAs(api, shop, role);
    const bodies: Record<string, object> = {
      '/folders': { name: 'By a member' },
      '/members/invites': { role: 'analyst' },
    };
    const body = bodies[path];
    const answer = await browser.call(method, path, body && method === 'POST' ? { body } : {});
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.error.message).toContain(role);
  });

  test('the role is checked before plan, parameters and body', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const browser = await signedInAs(api, free, 'analyst');
    expect((await browser.call('PATCH', '/links/not-an-id', { body: {} })).status).toBe(403);
    expect((await browser.call('GET', '/links/not-an-id')).status).toBe(402);
  });
});

describe('an invitation by the API', () => {
  test('makes a member with the role that it names', async ({ api, shop }) => {
    const owner = await signedInAs(api, shop, 'owner');
    const made = await owner.call<Invite>('POST', '/members/invites', {
      body: { email: ' New@Shop.example', role: 'operator' },
    });
    expect([made.status, made.body]).toEqual([
      201,
      {
        invite: {
          url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/console\/welcome#[\w-]{43}$/),
          mailed: false,
          expires_at: expect.any(String),
          role: 'operator',
          email: 'new@shop.example',
          workspace_id: shop.workspace.id,
        },
      },
    ]);
    expect(made.headers['cache-control']).toBe('no-store');
    const accepted = await consoleBrowser(api).call<{ member: object }>('POST', '/session/invite', {
      body: { token: tokenOf(made.body), password: PASSWORD },
    });
    expect(accepted.body.member).toMatchObject({ email: 'new@shop.example', role: 'operator' });
    const { body } = await shop.get<Members>('/members');
    expect(body.members.at(-1)).toMatchObject({ email: 'new@shop.example', role: 'operator' });
  });

  test.for([
    ['an email that is none', { email: 'x', role: 'analyst' }, 'email'],
    ['no role', {}, 'role'],
    ['an unknown role', { role: 'boss' }, 'role'],
  ])('with %s is a 400', async ([_, body, path], { shop }) => {
    const refused = await shop.post('/members/invites', body);
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, path]);
  });

  test('for a member who is removed meanwhile is refused', async ({ api, shop }) => {
    const member = await signedInAs(api, shop, 'analyst');
    const token = await invite(api, shop, { email: member.email });
    const view = await consoleBrowser(api).call<{ role: string }>('POST', '/session/invite/view', {
      body: { token },
    });
    expect(view.body.role).toBe('analyst');
    expect((await shop.delete(`/members/${member.id}`)).status).toBe(200);
    const accepted = await consoleBrowser(api).call('POST', '/session/invite', {
      body: { token, password: PASSWORD },
    });
    expect(accepted.status).toBe(401);
  });

  describe('ends when its maker loses the right to invite', () => {
    const accept = async (api: TestApi, body: Invite, email?: string) =>
      (
        await consoleBrowser(api).call('POST', '/session/invite', {
          body: { token: tokenOf(body), password: PASSWORD, email },
        })
      ).status;
    const view = async (api: TestApi, body: Invite) =>
      (await consoleBrowser(api).call('POST', '/session/invite/view', { body: { token: tokenOf(body) } }))
        .status;

    test('an owner who is removed does not come back by an invitation of their own', async ({
      api,
      shop,
    }) => {
      const [gone, staying] = [await signedInAs(api, shop, 'owner'), await signedInAs(api, shop, 'owner')];
      const body = { role: 'owner' };
      const [own, other] = [
        await gone.call<Invite>('POST', '/members/invites', { body }),
        await staying.call<Invite>('POST', '/members/invites', { body }),
      ];
      expect((await staying.call('DELETE', `/members/${gone.id}`)).status).toBe(200);
      expect([await view(api, own.body), await accept(api, own.body, gone.email)]).toEqual([401, 401]);
      expect(await accept(api, other.body, 'another-owner@members.example')).toBe(200);
    });

    test('nor does a former owner, not even when made one again', async ({ api, shop }) => {
      const demoted = await signedInAs(api, shop, 'owner');
      const made = await demoted.call<Invite>('POST', '/members/invites', { body: { role: 'owner' } });
      for (const role of ['operator', 'owner']) {
        expect((await shop.call('PATCH', `/members/${demoted.id}`, { body: { role } })).status).toBe(200);
        expect(await accept(api, made.body, 'a-friend@members.example')).toBe(401);
      }
    });

    test('one that is made while its maker is removed is refused', async ({ api, shop }) => {
      const gone = await signedInAs(api, shop, 'owner');
      const made = await gone.call<Invite>('POST', '/members/invites', { body: { role: 'owner' } });
      await api.stores.pool.query('UPDATE members SET removed_at = now() WHERE id = $1', [gone.id]);
      expect([await view(api, made.body), await accept(api, made.body, 'late@members.example')]).toEqual([
        401, 401,
      ]);
    });

    test('a second invitation to the email of a removed member is refused', async ({ api, shop }) => {
      const email = 'twice@members.example';
      const invite = () => shop.post<Invite>('/members/invites', { email, role: 'owner' });
      const [first, second, third] = [await invite(), await invite(), await invite()];
      expect(await accept(api, first.body)).toBe(200);
      const { members } = (await shop.get<Members>('/members')).body;
      const { id } = members.find((member) => member.email === email) ?? {};
      expect((await shop.call('PATCH', `/members/${id}`, { body: { role: 'analyst' } })).status).toBe(200);
      expect(await accept(api, second.body)).toBe(401);
      expect((await shop.delete(`/members/${id}`)).status).toBe(200);
      expect(await accept(api, third.body)).toBe(401);
      expect(await accept(api, (await invite()).body)).toBe(200);
    });

    test('those of a key end when it is revoked', async ({ api, shop }) => {
      const given = { workspaceId: shop.workspace.id, kind: 'secret', label: 'x' } as const;
      const { key: made, token } = await createKey(api.stores.pool, given);
      const key = { id: made.id, token };
      const body = { role: 'owner' };
      const byKey = await shop.post<Invite>('/members/invites', body, { key: key.token });
      const other = await shop.post<Invite>('/members/invites', body);
      expect(await view(api, byKey.body)).toBe(200);
      expect((await shop.delete(`/keys/${key.id}`)).status).toBe(200);
      expect([await view(api, byKey.body), await accept(api, byKey.body, 'by-key@members.example')]).toEqual([
        401, 401,
      ]);
      expect(await accept(api, other.body, 'by-another-key@members.example')).toBe(200);
    });
  });

  test('for the email of a member of another workspace makes a member of this one only', async ({
    api,
    shop,
  }) => {
    const other = await api.addWorkspace();
    const theirs = await signedInAs(api, other, 'owner');
    const made = await shop.post<Invite>('/members/invites', { email: theirs.email, role: 'analyst' });
    await consoleBrowser(api).call('POST', '/session/invite', {
      body: { token: tokenOf(made.body), password: 'a password of their own' },
    });
    expect((await theirs.call('GET', '/session')).status).toBe(200);
    const signIn = await consoleBrowser(api, '198.51.100.9').call<{ session: { workspace: object } }>(
      'POST',
      '/session',
      { body: { email: theirs.email, password: 'a password of their own' } },
    );
    expect(signIn.body.session.workspace).toMatchObject({ id: shop.workspace.id });
  });
});

describe('a change of a member', () => {
  test('holds with the next request of its sessions', async ({ api, shop }) => {
    const owner = await signedInAs(api, shop, 'owner');
    const member = await signedInAs(api, shop, 'operator');
    const create = async () =>
      (await member.call('POST', '/folders', { body: { name: 'By the changed' } })).status;
    expect(await create()).toBe(201);
    const changed = await owner.call<{ role: string }>('PATCH', `/members/${member.id}`, {
      body: { role: 'analyst' },
    });
    expect([changed.status, changed.body.role]).toEqual([200, 'analyst']);
    expect(await create()).toBe(403);
    expect((await member.call('GET', '/links')).status).toBe(200);
  });

  test('that removes it ends its sessions, its password and its place in the list', async ({ api, shop }) => {
    const owner = await signedInAs(api, shop, 'owner');
    const member = await signedInAs(api, shop, 'operator');
    expect((await owner.call('DELETE', `/members/${member.id}`)).status).toBe(200);
    expect((await member.call('GET', '/links')).status).toBe(401);
    const again = await consoleBrowser(api, '198.51.100.2').call('POST', '/session', {
      body: { email: member.email, password: PASSWORD },
    });
    expect(again.status).toBe(401);
    expect((await shop.get('/members')).text).not.toContain(member.email);
    expect((await owner.call('DELETE', `/members/${member.id}`)).status).toBe(404);
    // The email can be used again.
    const back = await signedInAs(api, shop, 'analyst', { email: member.email });
    expect(back.id).not.toBe(member.id);
  });

  test('never leaves a workspace without an owner, also when two owners go at the same moment', async ({
    api,
  }) => {
    const alone = await api.addWorkspace();
    const first = await signedInAs(api, alone, 'owner');
    for (const refused of [
      await first.call('PATCH', `/members/${first.id}`, { body: { role: 'operator' } }),
      await first.call('DELETE', `/members/${first.id}`),
      await alone.delete(`/members/${first.id}`),
    ]) {
      expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    }
    const second = await signedInAs(api, alone, 'owner');
    const both = await Promise.all([
      first.call('DELETE', `/members/${second.id}`),
      second.call('PATCH', `/members/${first.id}`, { body: { role: 'analyst' } }),
    ]);
    // The later call is refused: its caller is no longer an owner or member, or it would remove the last owner.
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    const { body } = await alone.get<Members>('/members');
    expect(body.members.filter(({ role }) => role === 'owner')).toHaveLength(1);
  });

  test('of another workspace is not found', async ({ api, shop }) => {
    const other = await signedInAs(api, await api.addWorkspace(), 'analyst');
    expect((await shop.delete(`/members/${other.id}`)).status).toBe(404);
    expect((await other.call('GET', '/session')).status).toBe(200);
  });
});

describe('own sessions', () => {
  type Sessions = { sessions: { id: string; browser: string; os: string; current: boolean }[] };
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

  test('are listed with browser and system, and ended one by one or all but this one', async ({
    api,
    shop,
  }) => {
    const here = await signedInAs(api, shop, 'analyst', { address: '198.51.100.3' });
    const signIn = async () => {
      const browser = consoleBrowser(api, '198.51.100.3');
      await browser.call('POST', '/session', {
        body: { email: here.email, password: PASSWORD },
        headers: { 'user-agent': FIREFOX },
      });
      return browser;
    };
    const others = [await signIn(), await signIn(), await signIn()] as const;
    const list = async () => (await here.call<Sessions>('GET', '/sessions')).body.sessions;
    expect(await list()).toHaveLength(4);
    expect((await list()).filter(({ current }) => current)).toHaveLength(1);
    const firefox = (await list()).filter(({ current }) => !current);
    expect(firefox[0]).toMatchObject({ browser: 'Firefox', os: 'Linux' });

    const { body } = await others[0].call<Sessions>('GET', '/sessions');
    const id = body.sessions.find(({ current }) => current)?.id;
    expect((await here.call('DELETE', `/sessions/${id}`)).status).toBe(200);
    expect((await here.call('DELETE', `/sessions/${id}`)).status).toBe(404);
    expect((await others[0].call('GET', '/session')).status).toBe(401);
    expect((await others[1].call('GET', '/session')).status).toBe(200);
    const ended = await here.call('DELETE', '/sessions');
    expect([ended.status, ended.body]).toEqual([200, { ended: 2 }]);
    expect((await others[1].call('GET', '/session')).status).toBe(401);
    expect((await here.call('GET', '/session')).status).toBe(200);
  });

  test('of other members can not be seen or ended, not even by owners', async ({ api, shop }) => {
    const owner = await signedInAs(api, shop, 'owner');
    const member = await signedInAs(api, shop, 'analyst');
    const { body } = await member.call<Sessions>('GET', '/sessions');
    const id = body.sessions[0]?.id;
    expect((await owner.call('DELETE', `/sessions/${id}`)).status).toBe(404);
    expect((await owner.call('GET', '/sessions')).text).not.toContain(id);
  });

  test('end with a changed password, but for the one that changed it', async ({ api, shop }) => {
    const here = await signedInAs(api, shop, 'analyst', { address: '198.51.100.4' });
    const other = consoleBrowser(api, '198.51.100.4');
    await other.call('POST', '/session', { body: { email: here.email, password: PASSWORD } });
    const changed = await here.call('POST', '/session/password', {
      body: { current_password: PASSWORD, password: 'the next password' },
    });
    expect(changed.status).toBe(200);
    expect((await other.call('GET', '/session')).status).toBe(401);
    expect((await here.call('GET', '/session')).status).toBe(200);
  });
});
