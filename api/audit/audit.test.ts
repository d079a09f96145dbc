import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordAudit } from '../../sql/audit/audit-log.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import { type ErrorBody, type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { consoleBrowser, PASSWORD, signedInAs } from '../../test/support/members.ts';
import type { AuditEntry } from './schemas.ts';

type Log = { entries: AuditEntry[]; next_cursor: string | null };

let api: TestApi;
let shop: TestWorkspace;
/** The lines that the API logs. */
const lines: string[] = [];
beforeAll(async () => {
  const log = pino({ level: 'info' }, { write: (line) => lines.push(line) });
  api = await testApi(() => ({ log }));
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const entries = async (workspace = shop) => (await workspace.get<Log>('/audit-log?limit=500')).body.entries;
const actions = async () => (await entries()).map(({ action }) => action);

/** Addresses of browsers, one for each test: failed sign-ins count by address. */
let made = 0;
const address = () => `198.51.100.${++made}`;

test('keys, members, settings and the identity secret leave entries with who, what and whom', async () => {
  const { key } = (await shop.get<{ key: { id: string } }>('/me')).body;
  const child = await shop.post<{ id: string; token: string }>('/keys', { kind: 'secret', scopes: ['read'] });
  await shop.delete(`/keys/${child.body.id}`);
  const owner = await signedInAs(api, shop, 'owner');
  await owner.call('PATCH', '/workspace', { body: { payout_hold_days: 9 } });
  const secret = await owner.call<{ identity_secret: string }>('POST', '/identity-secret', { body: {} });
  const other = await signedInAs(api, shop, 'analyst');
  await owner.call('PATCH', `/members/${other.id}`, { body: { role: 'operator' } });
  await owner.call('POST', '/members/invites', { body: { email: 'new@members.example', role: 'owner' } });
  await owner.call('DELETE', `/members/${other.id}`);

  const byKey = { type: 'key', id: key.id, name: 'secret' };
  const byOwner = { type: 'member', id: owner.id, name: `o***@members.example` };
  const workspace = { type: 'workspace', id: shop.workspace.id };
  const found = (await entries()).toReversed();
  expect(found.map(({ actor, action, target, details }) => ({ actor, action, target, details }))).toEqual([
    {
      actor: byKey,
      action: 'key.create',
      target: { type: 'key', id: child.body.id },
      details: { kind: 'secret', scopes: ['read'], manage: false },
    },
    {
      actor: byKey,
      action: 'key.revoke',
      target: { type: 'key', id: child.body.id },
      details: { descendants: false },
    },
    { actor: byOwner, action: 'invite.accept', target: { type: 'member', id: owner.id }, details: {} },
    { actor: byOwner, action: 'workspace.update', target: workspace, details: { payout_hold_days: 9 } },
    { actor: byOwner, action: 'identity_secret.rotate', target: workspace, details: {} },
    expect.objectContaining({ action: 'invite.accept', target: { type: 'member', id: other.id } }),
    {
      actor: byOwner,
      action: 'member.update',
      target: { type: 'member', id: other.id },
      details: { role: 'operator' },
    },
    {
      actor: byOwner,
      action: 'invite.create',
      target: { type: 'invite', id: expect.any(String) },
      details: { role: 'owner' },
    },
    { actor: byOwner, action: 'member.remove', target: { type: 'member', id: other.id }, details: {} },
  ]);
  expect(found.every(({ ip_hash }) => /^[0-9a-f]{64}$/.test(ip_hash ?? ''))).toBe(true);

  const { rows } = await api.stores.pool.query(
    'SELECT a::text FROM audit_entries a WHERE workspace_id = $1',
    [shop.workspace.id],
  );
  const stored = JSON.stringify([rows, found]);
  for (const hidden of [
    PASSWORD,
    child.body.token.slice(-48),
    secret.body.identity_secret.slice(8),
    owner.email,
    'new@members.example',
    '203.0.113.7',
    '127.0.0.1',
  ]) {
    expect(stored).not.toContain(hidden);
  }
});

test('sign-ins, failed ones and locks are there, and a lock is once a minute', async () => {
  const { email, id } = await signedInAs(api, shop, 'owner');
  const from = address();
  const signIn = (password: string) =>
    consoleBrowser(api, from).call('POST', '/session', { body: { email, password } });
  expect((await signIn(PASSWORD)).status).toBe(200);
  for (let n = 0; n < 5; n++) expect((await signIn('a wrong password')).status).toBe(401);
  for (let n = 0; n < 3; n++) expect((await signIn(PASSWORD)).status).toBe(429);
  expect((await actions()).toReversed()).toEqual([
    'invite.accept',
    'session.sign_in',
    ...Array(5).fill('session.sign_in_failed'),
    'session.locked',
  ]);
  const [locked] = await entries();
  expect(locked).toMatchObject({
    actor: { type: 'service', id: null, name: null },
    target: { type: 'member', id },
  });
});

test('entries are found by time, action and actor', async () => {
  const { id } = await signedInAs(api, shop, 'owner');
  await shop.patch('/workspace', { payout_hold_days: 1 });
  const found = async (query: string) => {
    const { status, body, text } = await shop.get<{ entries: { action: string }[] }>(`/audit-log?${query}`);
    expect([status, text]).toEqual([200, text]);
    return body.entries.map(({ action }) => action);
  };
  const all = await found('');
  expect(await found('since=2026-01-01')).toEqual(all);
  expect(await found('since=2126-01-01')).toEqual([]);
  expect(await found('action=workspace.update')).toEqual(['workspace.update']);
  expect(await found('actor=KEY')).toEqual(['workspace.update']);
  expect(await found(`actor=${id}`)).toEqual(all.filter((action) => action !== 'workspace.update'));
  expect(
    (await shop.get('/audit-log?format=ndjson&action=invite.accept')).text.trim().split('\n'),
  ).toHaveLength(1);
  const { status, body } = await shop.get<ErrorBody>('/audit-log?actor=ann');
  expect([status, body.error.details?.[0]?.path]).toEqual([400, 'actor']);
});

test('ip_hash is the same for one address in a workspace, and another one in another workspace', async () => {
  const other = await api.addWorkspace();
  const hashes = async (workspace: TestWorkspace) => {
    await workspace.patch('/workspace', { payout_hold_days: 1 });
    await workspace.patch('/workspace', { payout_hold_days: 2 });
    return new Set((await entries(workspace)).map(({ ip_hash }) => ip_hash));
  };
  const [own, others] = [await hashes(shop), await hashes(other)];
  expect([own.size, others.size]).toEqual([1, 1]);
  expect(own).not.toEqual(others);
});

test('exports, payouts and secrets of webhooks leave entries; reads, refusals and replays do not', async () => {
  const headers = { 'idempotency-key': 'one' };
  const hook = { url: 'https://receiver.example/', events: ['click'] };
  await shop.get('/clicks/export?format=csv');
  await shop.get('/payouts/export?format=csv');
  const created = await shop.post('/webhooks', hook, { headers });
  await shop.post('/webhooks', hook, { headers });
  await shop.get('/links');
  await shop.get('/audit-log');
  expect((await shop.post('/keys', {})).status).toBe(400);
  expect((await shop.delete(`/keys/${crypto.randomUUID()}`)).status).toBe(404);
  const seen = (await actions()).toReversed();
  expect(seen.slice(0, 2)).toEqual(['clicks.export', 'payouts.export']);
  expect(seen.slice(2)).toEqual(created.status === 201 ? ['webhook.create'] : []);
});

test('an entry is a log line too, and so is a failed sign-in of an unknown email, without the email', async () => {
  lines.length = 0;
  const { id } = (await shop.post<{ id: string }>('/keys', { kind: 'secret' })).body;
  const body = { email: 'unknown@members.example', password: PASSWORD };
  expect((await consoleBrowser(api, address()).call('POST', '/session', { body })).status).toBe(401);
  expect((await shop.delete(`/keys/${crypto.randomUUID()}`)).status).toBe(404);
  const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /^audit: |sign-in/.test(msg));
  expect(found).toMatchObject([
    {
      msg: 'audit: key.create',
      audit: { workspaceId: shop.workspace.id, action: 'key.create', target: { type: 'key', id } },
    },
    { msg: 'a sign-in was refused', action: 'session.sign_in_failed' },
  ]);
  expect(lines.join('')).not.toContain('unknown@members.example');
});

test('the provision of a workspace is the partner\u2019s', async () => {
  const { token: key, partner } = await createPartner(api.stores.pool, 'Platform');
  const { body } = await shop.post<{ key: string }>(
    '/partner/workspaces',
    { external_id: crypto.randomUUID(), name: 'N' },
    { key },
  );
  await api.stores.pool.query('UPDATE api_keys SET manage = true WHERE lookup = $1', [
    body.key.split('_')[2],
  ]);
  const log = await shop.get<Log>('/audit-log', { key: body.key });
  expect(log.body.entries).toMatchObject([
    { action: 'workspace.provision', actor: { type: 'partner', id: partner.id, name: 'Platform' } },
  ]);
});

describe('GET /audit-log', () => {
  const fill = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        recordAudit(api.stores.pool, {
          workspaceId: shop.workspace.id,
          actor: { type: 'operator', id: null },
          action: `test.${n}`,
          target: { type: 'test', id: null },
        }),
      ),
    );

  test('is of owners and of keys with manage', async () => {
    for (const [role, status] of [
      ['owner', 200],
      ['operator', 403],
      ['analyst', 403],
    ] as const) {
      expect((await (await signedInAs(api, shop, role)).call('GET', '/audit-log')).status).toBe(status);
    }
    const { body } = await shop.post<{ token: string }>('/keys', { kind: 'secret' });
    expect((await shop.get('/audit-log', { key: body.token })).status).toBe(403);
  });

  test('pages newest first, each entry once', async () => {
    await fill(23);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Log = (await shop.get<Log>(`/audit-log?limit=5${cursor && `&cursor=${cursor}`}`)).body;
      expect(page.entries.length).toBeLessThanOrEqual(5);
      seen.push(...page.entries.map(({ action }) => action));
      cursor = page.next_cursor;
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: 23 }, (_, n) => `test.${n}`).toSorted());
    const times = (await entries()).map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('as NDJSON has every entry in one response, and the export is in the log', async () => {
    await fill(520);
    const file = await shop.get('/audit-log?format=ndjson');
    expect(file.headers['content-type']).toMatch(/^application\/x-ndjson/);
    const lines = file.text.trimEnd().split('\n');
    expect(
      lines.map((line) => JSON.parse(line).action).filter((one) => one.startsWith('test.')),
    ).toHaveLength(520);
    expect((await actions())[0]).toBe('audit_log.export');
  });
});

test('entries can not be changed, and be deleted after 13 months only', async () => {
  const { admin } = api.stores;
  await shop.post('/keys', { kind: 'publishable' });
  const of = 'WHERE workspace_id = $1';
  const values = [shop.workspace.id];
  await expect(admin.query(`UPDATE audit_entries SET action = 'x' ${of}`, values)).rejects.toThrow(
    'append-only',
  );
  await expect(admin.query(`DELETE FROM audit_entries ${of}`, values)).rejects.toThrow('append-only');
  await admin.query(
    `INSERT INTO audit_entries (id, workspace_id, at, actor_type, action, target_type)
     VALUES (gen_random_uuid(), $1, now() - interval '14 months', 'operator', 'old', 'test')`,
    values,
  );
  await admin.query(`DELETE FROM audit_entries ${of} AND action = 'old'`, values);
  expect(await actions()).toEqual(['key.create']);
});
