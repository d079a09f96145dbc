import { describe, expect } from 'vitest';
import { setStatus } from '../../cli/commands/enrollment.ts';
import { forgetVisitors } from '../../sql/erasure/erasures.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { type Merchant, merchant, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ api, shop }) => {
  await api.stores.pool.query('DELETE FROM ingest_streams');
  m = merchant(shop);
});

const CREDITS = { credit_enabled: true, signup_credit: { free: 5, paid: 10 }, referee_credit: 3 };

describe('a self-referral', () => {
  async function blocked(fields: object, user = 'n', key?: string) {
    const { body } = await m.signup(user, fields, key);
    return body.blocked ? body.block_reason : null;
  }

  test('leaves a revoked grant with its reason and fires lead.blocked alone', async ({ api, shop }) => {
    await m.program(CREDITS);
    const { ref, partner_id, program_id } = await m.enroll('r');
    const { body } = await m.signup('n', { ref_code: ref, email: 'R+me@mail.example' });
    expect(body).toEqual({
      matched: true,
      program_id,
      partner_id,
      blocked: true,
      block_reason: 'same_email',
    });
    const { grants, balance } = await m.credits(`partner_id=${partner_id}`);
    expect(grants).toMatchObject([
      { status: 'revoked', amount: 5, external_user_id: 'r', earned_at: null, delivered_at: null },
    ]);
    expect(balance).toEqual({});
    const { rows } = await api.stores.pool.query('SELECT revoked_reason FROM grants WHERE id = $1', [
      grants[0]?.id,
    ]);
    expect(rows).toEqual([{ revoked_reason: 'same_email' }]);
    expect(await queuedEvents(api, shop)).toMatchObject([
      { type: 'lead.blocked', data: { external_user_id: 'n', partner_id, block_reason: 'same_email' } },
    ]);
    expect((await m.signup('n', { ref_code: ref })).body).toEqual(body);
    expect((await m.stats('r')).stats.signups).toBe(0);
    expect((await shop.post(`/credits/${grants[0]?.id}/mark-delivered`)).status).toBe(409);
  });

  test('is found by user, email and device', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r', { email: 'jane.doe@gmail.com', device_id: 'd1' });
    expect(await blocked({ ref_code: ref }, 'r')).toBe('same_user');
    expect(await blocked({ ref_code: ref, email: 'JaneDoe+x@googlemail.com' })).toBe('same_email');
    expect(await blocked({ ref_code: ref, device_id: 'd1' }, 'n2')).toBe('same_device');
    expect(await blocked({ ref_code: ref, device_id: 'd2' }, 'n3')).toBeNull();
  });

  test('is found by a visitor who gave the mailbox or the id of the referrer, or signed up as them', async ({
    api,
    shop,
  }) => {
    await m.program(CREDITS);
    const [own, byId, bySignup, stranger] = Array.from({ length: 4 }, () => crypto.randomUUID());
    const { ref: root } = await m.enroll('root');
    await m.signup('r', { ref_code: root, _vid: bySignup });
    const { ref } = await m.enroll('r', { email: 'r@mail.example' });
    const identity = { workspaceId: shop.workspace.id, byServer: false, ts: 1, externalUserId: null };
    await upsertIdentities(api.stores.pool, [
      { ...identity, visitorId: own ?? '', email: 'r+shop@mail.example' },
      { ...identity, visitorId: byId ?? '', email: 'work@mail.example', externalUserId: 'r' },
      { ...identity, visitorId: stranger ?? '', email: 's@mail.example', externalUserId: 's' },
    ]);
    expect(await blocked({ ref_code: ref, _vid: own }, 'n1')).toBe('same_visitor');
    expect(await blocked({ ref_code: ref, _vid: byId }, 'n2')).toBe('same_visitor');
    expect(await blocked({ ref_code: ref, _vid: bySignup }, 'n3')).toBe('same_visitor');
    expect(await blocked({ ref_code: ref, _vid: stranger }, 'n4')).toBeNull();
  });

  test('is found by a visitor who gave a user id and no email', async ({ api, shop }) => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const [own, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const given = { workspaceId: shop.workspace.id, email: null, byServer: false, ts: 1 };
    await upsertIdentities(api.stores.pool, [
      { ...given, visitorId: own, externalUserId: 'r' },
      { ...given, visitorId: other, externalUserId: 's' },
    ]);
    expect(await blocked({ ref_code: ref, _vid: own }, 'n1')).toBe('same_visitor');
    expect(await blocked({ ref_code: ref, _vid: other }, 'n2')).toBeNull();
  });

  test('earns nothing for a purchase either, when only the signup gave the mailbox', async ({ shop }) => {
    await m.program({ commission_rate: 20, levels: [10] });
    const a = await m.enroll('a', { email: 'anna@mail.example' });
    await m.signup('b', { ref_code: a.ref });
    const b = await m.enroll('b');
    expect(await blocked({ ref_code: b.ref, email: 'anna+1@mail.example' }, 'c')).toBeNull();
    expect((await m.purchase('c', 'o1', 100)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
    expect((await m.stats('a')).affiliate.balance.pending).toBe(0);
    // The referrer's own signup gave the mailbox, and arrived after the referral.
    await shop.get('/referrals/stats?external_user_id=x');
    await m.signup('y', { referrer_external_user_id: 'x', email: 'x@mail.example' });
    await m.signup('x', { ref_code: a.ref, email: 'x@mail.example' });
    expect((await m.purchase('y', 'o2', 100)).body).toMatchObject({
      rewarded: false,
      reason: 'self_referral',
    });
  });

  test('is found by address only between two browsers, and only when either side has no device id', async ({
    api,
    shop,
  }) => {
    await m.program(CREDITS);
    const browser = shop.publishableKey;
    const { ref } = await m.enroll('r1', {}, browser);
    expect(await blocked({ ref_code: ref }, 'n1', browser)).toBe('same_ip');
    expect(await blocked({ ref_code: ref, device_id: 'd' }, 'n2', browser)).toBe('same_ip');
    expect(await blocked({ ref_code: ref }, 'n3')).toBeNull();
    const withDevice = await m.enroll('r2', { device_id: 'd1' }, browser);
    expect(await blocked({ ref_code: withDevice.ref, device_id: 'd2' }, 'n4', browser)).toBeNull();
    expect(await blocked({ ref_code: withDevice.ref }, 'n5', browser)).toBe('same_ip');
    const byServer = await m.enroll('r3');
    expect(await blocked({ ref_code: byServer.ref }, 'n6', browser)).toBeNull();
    await shop.get('/referrals/stats?external_user_id=r4', { key: browser });
    expect(await blocked({ referrer_external_user_id: 'r4' }, 'n7', browser)).toBe('same_ip');
    const { rows } = await api.stores.pool.query<{ hash: Buffer }>(
      'SELECT address_hash AS hash FROM enrollments WHERE address_hash IS NOT NULL',
    );
    // Never in plain text: a keyed hash.
    for (const { hash } of rows) expect([hash.length, hash.includes('127.0.0.1')]).toEqual([32, false]);
  });

  test('of a suspended referrer is blocked as suspended, until approved again', async ({ api, shop }) => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const given = { workspace: shop.workspace.slug, externalUserId: 'r' };
    const suspended = await setStatus(api.stores.pool, { ...given, status: 'suspended' });
    expect(suspended.enrollment).toMatchObject({ external_user_id: 'r', status: 'suspended' });
    expect((await m.stats('r')).status).toBe('suspended');
    expect(await blocked({ ref_code: ref }, 'n1')).toBe('suspended');
    expect((await m.credits('external_user_id=r')).balance).toEqual({});
    await setStatus(api.stores.pool, { ...given, status: 'approved' });
    expect(await blocked({ ref_code: ref }, 'n2')).toBeNull();
    expect((await m.credits('external_user_id=r')).balance).toEqual({ credits: { earned: 5, delivered: 0 } });
  });
});

test('of an erased visitor keeps the referral and forgets the person', async ({ api, shop }) => {
  await m.program(CREDITS);
  const { ref } = await m.enroll('r');
  const visitor = crypto.randomUUID();
  await m.signup('n', { ref_code: ref, _vid: visitor, email: 'n@mail.example', device_id: 'd' });
  await forgetVisitors(api.stores.pool, [
    { workspaceId: shop.workspace.id, kind: 'visitor', targetId: visitor },
  ]);
  const { rows } = await api.stores.pool.query(
    'SELECT state, email, device_id, visitor_id, address_hash FROM signups WHERE workspace_id = $1',
    [shop.workspace.id],
  );
  expect(rows).toEqual([
    { state: 'matched', email: null, device_id: null, visitor_id: null, address_hash: null },
  ]);
  expect((await m.purchase('n', 'o1', 10)).body.matched).toBe(true);
});
