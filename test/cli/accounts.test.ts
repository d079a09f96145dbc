import { generateSync } from 'otplib';
import { describe, expect } from 'vitest';
import { keyMatches } from '../../core/access/keys.ts';
import { type AuditEntry, listAuditEntries } from '../../sql/audit/audit-log.ts';
import { linkIdentity, memberOfIdentity } from '../../sql/console/provider-identities.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { partnerByLookup } from '../../sql/workspaces/partners.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { operator } from '../support/hoplog.ts';
import { consoleBrowser, PASSWORD, signedInAs } from '../support/members.ts';

type Workspace = { id: string; slug: string; name: string; plan: string; [field: string]: unknown };
type Made = { workspace: Workspace; secret_key: string; publishable_key: string };
type Key = { id: string; kind: string; label: string; revoked_at: string | null };

let cli: ReturnType<typeof operator>;

test.beforeAll(async ({ api }) => {
  cli = operator(api.stores);
});

const create = (...options: string[]) =>
  cli.json<Made>('workspace', 'create', '--name', 'Made by hand', ...options);

async function me(
  api: TestApi,
  key: string,
): Promise<{ status: number; body: Record<string, Record<string, unknown>> }> {
  const response = await api.app.inject({ url: '/api/v1/me', headers: { authorization: `Bearer ${key}` } });
  return { status: response.statusCode, body: response.json() };
}

describe('workspace', () => {
  test('create prints the workspace and two keys that work, on the plan unlimited', async ({ api }) => {
    const made = await create();
    expect(Object.keys(made)).toEqual(['workspace', 'secret_key', 'publishable_key']);
    expect(made.workspace).toMatchObject({
      name: 'Made by hand',
      plan: 'unlimited',
      primary_domain: null,
    });
    expect(made.secret_key).toMatch(/^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
    expect(made.publishable_key).toMatch(/^pk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
    for (const key of [made.secret_key, made.publishable_key]) {
      const response = await me(api, key);
      expect([response.status, response.body.workspace?.id]).toEqual([200, made.workspace.id]);
    }
  });

  test('create takes a plan and a domain, and two workspaces of one name get two slugs', async ({ api }) => {
    const first = await create('--plan', 'pro', '--domain', 'Shop.Example');
    const second = await create();
    expect(first.workspace).toMatchObject({ plan: 'pro', primary_domain: 'shop.example' });
    expect(second.workspace.slug).not.toBe(first.workspace.slug);
    expect((await me(api, first.secret_key)).body.plan).toMatchObject({ tier: 'pro', status: 'active' });
  });

  test('set changes only what is given, by id or by slug', async ({ api }) => {
    const { workspace, secret_key } = await create('--domain', 'kept.example');
    const all = ['--plan', 'starter', '--status', 'past_due', '--attribution-model', 'linear'];
    const rest = ['--attribution-window', '7', '--currency', 'EUR'];
    const set = await cli.json<{ workspace: Workspace }>(
      'workspace',
      'set',
      '--workspace',
      workspace.slug,
      ...all,
      ...rest,
    );
    const expected = {
      ...workspace,
      plan: 'starter',
      plan_status: 'past_due',
      attribution_model: 'linear',
      attribution_window: 7,
      currency: 'eur',
    };
    expect(set).toEqual({ workspace: expected });
    const again = ['workspace', 'set', '--workspace', workspace.id, '--domain', 'new.example'];
    expect(await cli.json(...again)).toEqual({ workspace: { ...expected, primary_domain: 'new.example' } });
    expect((await me(api, secret_key)).body.workspace).toMatchObject({
      primary_domain: 'new.example',
      attribution_model: 'linear',
      attribution_window: 7,
    });
  });

  test("a workspace's currency is fixed once it has orders, and an id takes precedence over a slug", async ({
    api,
  }) => {
    const { workspace } = await create();
    const set = ['workspace', 'set', '--workspace', workspace.id, '--currency'];
    expect(await cli.json(...set, 'eur')).toMatchObject({ workspace: { currency: 'eur' } });
    await create('--name', workspace.id);
    expect(await cli.json(...set, 'usd')).toMatchObject({ workspace: { id: workspace.id } });
    await api.stores.pool.query(
      `INSERT INTO orders (workspace_id, order_id, version, source, ts, stream_ordinal, amount_minor, currency,
         attribution_model, attribution_window) VALUES ($1, 'o', 1, 'server', 1, 0, 1999, 'usd', 'linear', 7)`,
      [workspace.id],
    );
    await cli.refused(1, /the currency must stay usd because the workspace has orders/, ...set, 'jpy');
    expect(await cli.json(...set, 'usd')).toMatchObject({ workspace: { currency: 'usd' } });
  });

  test('list has every workspace, oldest first', async () => {
    const { workspace } = await create();
    const { workspaces } = await cli.json<{ workspaces: Workspace[] }>('workspace', 'list');
    expect(workspaces.at(-1)).toEqual(workspace);
    expect(workspaces.length).toBeGreaterThan(1);
  });

  test('set of an unknown workspace fails', () =>
    cli.refused(
      1,
      /^hoplog: no workspace has the id or slug "nowhere"\n$/,
      'workspace',
      'set',
      '--workspace',
      'nowhere',
    ));
});

describe('key', () => {
  test('create, list and revoke: a revoked key stops working at once', async ({ api }) => {
    const { workspace } = await create();
    const { key, token } = await cli.json<{ key: Key; token: string }>(
      'key',
      'create',
      '--workspace',
      workspace.slug,
      '--kind',
      'secret',
      '--label',
      'for the shop',
    );
    expect(key).toMatchObject({
      kind: 'secret',
      label: 'for the shop',
      revoked_at: null,
      scopes: ['secret'],
    });
    expect((await me(api, token)).status).toBe(200);
    const list = () => cli.json<{ keys: Key[] }>('key', 'list', '--workspace', workspace.id);
    const { keys } = await list();
    expect(keys.map(({ kind, label }) => [kind, label])).toEqual([
      ['secret', 'first'],
      ['publishable', 'first'],
      ['secret', 'for the shop'],
    ]);
    expect(JSON.stringify(keys)).not.toContain(token.slice(-48));
    const revoked = await cli.json<{ key: Key }>('key', 'revoke', '--key', key.id);
    expect(revoked.key.revoked_at).toMatch(/^\d{4}-.*Z$/);
    expect((await me(api, token)).status).toBe(401);
    expect((await list()).keys.at(-1)).toEqual(revoked.key);
  });

  test('create takes scopes, an expiry and --no-manage; revoke counts descendants, and ends them with --descendants', async ({
    api,
  }) => {
    const { workspace } = await cli.json<{ workspace: { id: string } }>(
      'workspace',
      'create',
      '--name',
      'Rights',
    );
    type Made = { key: Key & { manage: boolean; expires_at: string | null }; token: string };
    const create = (...more: string[]) =>
      cli.json<Made>('key', 'create', '--workspace', workspace.id, '--kind', 'secret', ...more);
    const limited = await create('--no-manage', '--scope', 'read', 'links', '--expires-at', '2999-01-01');
    expect(limited.key).toMatchObject({
      scopes: ['read', 'links'],
      manage: false,
      expires_at: '2999-01-01T00:00:00.000Z',
    });
    await cli.refused(
      2,
      /future/,
      'key',
      'create',
      '--workspace',
      'x',
      '--kind',
      'secret',
      '--expires-at',
      '2020-01-01',
    );
    const maker = await create();
    expect(maker.key).toMatchObject({ manage: true, scopes: ['secret'], expires_at: null });
    const child = await createKey(api.stores.pool, {
      workspaceId: workspace.id,
      kind: 'secret',
      label: 'child',
      maker: { type: 'key', id: maker.key.id },
    });
    const revoke = (...more: string[]) => cli.json<object>('key', 'revoke', '--key', maker.key.id, ...more);
    expect(await revoke()).toMatchObject({ descendants: { keys: 1, members: 0, ended: false } });
    expect((await me(api, child.token)).status).toBe(200);
    expect(await revoke('--descendants')).toMatchObject({
      descendants: { keys: 1, members: 0, ended: true },
    });
    expect((await me(api, child.token)).status).toBe(401);

    const set = ['workspace', 'set', '--workspace', workspace.id, '--payout-hold-days', '5'];
    const allowed = await cli.json<{ workspace: Workspace }>(
      ...set,
      '--allowed-origins',
      'https://Shop.example, https://app.shop.example',
    );
    const origins = ['https://shop.example', 'https://app.shop.example'];
    expect(allowed.workspace.allowed_origins).toEqual(origins);
    await cli.json('console', 'invite', '--workspace', workspace.id);
    await cli.json('workspace', 'suspend', '--workspace', workspace.id);
    await cli.json('workspace', 'resume', '--workspace', workspace.id);
    const audit = (
      await listAuditEntries(api.stores.pool, workspace.id, { before: null, limit: 10 })
    ).reverse();
    expect(audit.map(({ actor_type, action, details }) => [actor_type, action, details])).toEqual([
      ['operator', 'workspace.create', { plan: 'unlimited' }],
      ['operator', 'key.create', {}],
      ['operator', 'key.create', {}],
      ['operator', 'key.revoke', {}],
      ['operator', 'key.revoke', {}],
      ['operator', 'workspace.update', { payout_hold_days: 5, allowed_origins: origins }],
      ['operator', 'invite.create', { role: 'owner' }],
      ['operator', 'workspace.suspend', {}],
      ['operator', 'workspace.resume', {}],
    ]);
  });

  test('an unknown key or workspace fails', async () => {
    await cli.refused(1, /no key has the id "x"/, 'key', 'revoke', '--key', 'x');
    await cli.refused(1, /no workspace/, 'key', 'list', '--workspace', 'nowhere');
  });
});

test('member reset-two-factor lets a member in who lost the app, and is in the audit log', async ({
  api,
}) => {
  const shop = await api.addWorkspace();
  const ann = await signedInAs(api, shop, 'owner');
  const { secret } = (await ann.call<{ secret: string }>('POST', '/two-factor/setup')).body;
  await ann.call('POST', '/two-factor', { body: { code: generateSync({ secret }) } });
  const reset = (email: string) =>
    cli.json('member', 'reset-two-factor', '--workspace', shop.workspace.id, '--email', email);
  expect(await reset(ann.email.toUpperCase())).toEqual({ member_id: ann.id, reset: true });
  const body = { email: ann.email, password: PASSWORD };
  expect((await consoleBrowser(api).call('POST', '/session', { body })).body).toMatchObject({
    code_required: false,
  });
  expect(await reset(ann.email)).toEqual({ member_id: ann.id, reset: false });
  const entries = await listAuditEntries(api.stores.pool, shop.workspace.id, { before: null, limit: 9 });
  const resets = entries.filter(({ action }) => action === 'two_factor.disable');
  expect(resets).toMatchObject([{ actor_type: 'operator', target_id: ann.id }]);
  const unknown = [
    'member',
    'reset-two-factor',
    '--workspace',
    shop.workspace.id,
    '--email',
    'no@one.example',
  ];
  await cli.refused(1, /has no member no@one.example/, ...unknown);
});

test('member unlink ends the tie to the identity provider, and is in the audit log', async ({ api }) => {
  const shop = await api.addWorkspace();
  const ann = await signedInAs(api, shop, 'owner');
  const identity = { issuer: 'https://id.example', subject: 'of the old client' };
  await linkIdentity(api.stores.pool, { workspaceId: shop.workspace.id, memberId: ann.id, ...identity });
  const named = ['--workspace', shop.workspace.id, '--email'];
  const unlink = () => cli.json('member', 'unlink', ...named, ann.email);
  expect(await unlink()).toEqual({ member_id: ann.id, unlinked: true });
  expect(await memberOfIdentity(api.stores.pool, shop.workspace.id, identity)).toBeNull();
  expect(await unlink()).toEqual({ member_id: ann.id, unlinked: false });
  const entries = await listAuditEntries(api.stores.pool, shop.workspace.id, { before: null, limit: 9 });
  const unlinked = entries.filter(({ action }) => action === 'member.unlink');
  expect(unlinked).toMatchObject([{ actor_type: 'operator', target_id: ann.id }]);
  await cli.refused(1, /has no member no@one.example/, 'member', 'unlink', ...named, 'no@one.example');
});

test('member unlink needs no workspace where one has the member, or the tie', async ({ api }) => {
  const [shop, other] = [await api.addWorkspace(), await api.addWorkspace()];
  const ann = await signedInAs(api, shop, 'owner', { email: 'ann-unlinked@shop.example' });
  const named = ['member', 'unlink', '--email', ` ${ann.email.toUpperCase()}`];
  const tie = (subject: string) => ({
    workspaceId: shop.workspace.id,
    memberId: ann.id,
    issuer: 'https://id.example',
    subject,
  });
  await linkIdentity(api.stores.pool, tie('one'));
  expect(await cli.json(...named)).toEqual({ member_id: ann.id, unlinked: true });
  await signedInAs(api, other, 'operator', { email: ann.email });
  await linkIdentity(api.stores.pool, tie('two'));
  expect(await cli.json(...named)).toEqual({ member_id: ann.id, unlinked: true });
  await cli.refused(1, /several workspaces have a member .*: name one with --workspace/, ...named);
  await cli.refused(
    1,
    /no workspace has a member no@one.example/,
    'member',
    'unlink',
    '--email',
    'no@one.example',
  );
});

describe('partner', () => {
  test('create and rotate print a key each, and only the newest counts', async ({ api }) => {
    type Result = { partner: { id: string; name: string }; partner_key: string };
    const made = await cli.json<Result>('partner', 'create', '--name', 'Platform');
    expect(made.partner).toMatchObject({ name: 'Platform' });
    const own = await createWorkspace(api.stores.pool, {
      name: 'Customer',
      plan: 'unlimited',
      partnerId: made.partner.id,
      partnerExternalId: 'customer',
    });
    const rotated = await cli.json<Result>('partner', 'rotate', '--partner', made.partner.id);
    expect(rotated.partner).toEqual(made.partner);
    const lookup = (key: string) => key.split('_')[2] ?? '';
    for (const { partner_key } of [made, rotated]) {
      expect(partner_key).toMatch(/^pt_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
    }
    const stored = await partnerByLookup(api.stores.pool, lookup(rotated.partner_key));
    expect(stored && keyMatches(rotated.partner_key, stored.hash)).toBe(true);
    expect(await partnerByLookup(api.stores.pool, lookup(made.partner_key))).toBeNull();
    await cli.refused(1, /no partner/, 'partner', 'rotate', '--partner', 'nobody');

    const audit = async (...options: string[]) =>
      (await cli.json<{ entries: AuditEntry[] }>('audit', 'list', ...options)).entries
        .filter(({ target_id }) => target_id === made.partner.id)
        .map(({ actor_type, action }) => [actor_type, action]);
    expect(await audit()).toEqual([
      ['operator', 'partner.rotate_key'],
      ['operator', 'partner.create'],
    ]);
    expect(await audit('--workspace', own.id)).toEqual([['operator', 'partner.rotate_key']]);
  });
});

describe('enrollment', () => {
  test('suspend and approve change a referrer by the id that the workspace gave', async ({ api }) => {
    const { workspace, secret_key } = await create();
    const call = (url: string, payload: object) =>
      api.app.inject({
        method: 'POST',
        url: `/api/v1${url}`,
        payload,
        headers: { authorization: `Bearer ${secret_key}` },
      });
    const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
    expect((await call('/programs', program)).statusCode).toBe(201);
    const ann = { external_user_id: 'ann', email: 'ann@example.com', tier: 'free' };
    expect((await call('/referrals/enroll', ann)).statusCode).toBe(200);
    const user = ['--workspace', workspace.slug, '--external-user-id', 'ann'];
    for (const [verb, status] of [
      ['suspend', 'suspended'],
      ['approve', 'approved'],
    ] as const) {
      const { enrollment } = await cli.json<{ enrollment: object }>('enrollment', verb, ...user);
      expect(enrollment).toMatchObject({ external_user_id: 'ann', status });
    }
    await cli.refused(1, /bob is not enrolled/, 'enrollment', 'suspend', ...user.slice(0, 3), 'bob');
  });
});
