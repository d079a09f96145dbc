import type { Static } from 'typebox';
import { describe, expect } from 'vitest';
import type { EnrollmentHistory, EnrollmentRecord } from '../../api/referrals/enrollments/schemas.ts';
import type { Eligible, EligibleBalance } from '../../api/referrals/payouts/schemas.ts';
import { userHash } from '../../core/access/user-hash.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { PASSWORD, signedInAs } from '../support/members.ts';
import { allQueuedEvents, type Merchant, merchant, PAID_AT_ONCE } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
});

/** A page sets where a user is paid. */
const fromPage = (shop: TestWorkspace, user: string, email: string, proof: object = {}) =>
  shop.post<{ payout_held_until: string | null }>(
    '/referrals/payout-method',
    { external_user_id: user, method: 'paypal', email, ...proof },
    { key: shop.publishableKey },
  );
const heldBack = async (shop: TestWorkspace) =>
  (await shop.get<{ balances: EligibleBalance[] }>('/payouts/eligible')).body.balances.map(
    ({ held_back }) => held_back,
  );
const historyOf = async (shop: TestWorkspace, partnerId: string) =>
  (await shop.get<EnrollmentHistory>(`/enrollments/${partnerId}/history`)).body.history;
const changes = async (api: TestApi, shop: TestWorkspace) =>
  (await allQueuedEvents(api, shop)).filter(({ type }) => type === 'enrollment.payout_method_changed');

/** Referrer `r` of a cash program, with a balance and no address. */
async function withoutAddress() {
  const program = await m.program(PAID_AT_ONCE);
  const enrolled = await m.enroll('r');
  await m.signup('n', { ref_code: enrolled.ref });
  await m.purchase('n', 'o1', 100);
  return { ...enrolled, programId: program.id };
}

describe('a referrer without a payout address', () => {
  test('is held back, and is in no file', async ({ shop }) => {
    const { partner_id } = await withoutAddress();
    expect(await heldBack(shop)).toEqual(['no_payout_method']);
    const file = await m.exportPayouts();
    expect(file.lines).toEqual([]);
    await m.pay(file.id);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 20, paid: 0 });
    await m.address(partner_id, 'r');
    expect((await m.exportPayouts()).lines).toMatchObject([
      { method: 'paypal', payout_email: 'r@pay.example' },
    ]);
  });

  test('of a program without credits may say where from the start: it begins in affiliate mode', async ({
    shop,
  }) => {
    await m.program(PAID_AT_ONCE);
    await m.enroll('r');
    expect((await m.stats('r')).reward_mode).toBe('affiliate');
    expect((await fromPage(shop, 'r', 'me@pay.example')).status).toBe(200);
    await m.program({ ...PAID_AT_ONCE, credit_enabled: true });
    await m.enroll('s');
    expect((await m.stats('s')).reward_mode).toBe('referrer');
    expect((await fromPage(shop, 's', 'me@pay.example')).status).toBe(403);
  });
});

describe('an address that a page sets', () => {
  test('holds the balance back, the first one too, until the days are over', async ({ api, shop }) => {
    const { partner_id } = await withoutAddress();
    await fromPage(shop, 'r', 'thief@evil.example');
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
    expect((await m.exportPayouts()).lines).toEqual([]);
    const { body } = await shop.get<EnrollmentRecord>(`/enrollments/${partner_id}`);
    expect(Date.parse(body.payout_held_until ?? '')).toBeGreaterThan(Date.now() + 2.9 * 86_400_000);
    await api.stores.pool.query(
      `UPDATE enrollments SET payout_unconfirmed_at = payout_unconfirmed_at - interval '3 days' WHERE id = $1`,
      [partner_id],
    );
    expect(await heldBack(shop)).toEqual([null]);
    expect((await m.exportPayouts()).lines).toHaveLength(1);
  });

  test('is payable from a day on, for the referrer too, or at once where its owner confirms it', async ({
    shop,
  }) => {
    const { partner_id } = await withoutAddress();
    await m.address(partner_id, 'r');
    expect((await m.stats('r')).affiliate.payout_held_until).toBeNull();
    const saved = await fromPage(shop, 'r', 'new@pay.example');
    const until = saved.body.payout_held_until;
    expect(Date.parse(until ?? '')).toBeGreaterThan(Date.now() + 2.9 * 86_400_000);
    expect((await m.stats('r')).affiliate.payout_held_until).toBe(until);
    const { body } = await shop.get<Static<typeof Eligible>>('/payouts/eligible');
    expect(body.balances).toMatchObject([
      {
        held_back: 'payout_method_changed',
        payout_held_until: until,
        payout_method: { email: 'n***@pay.example' },
      },
    ]);
    const path = `/enrollments/${partner_id}/confirm-payout-method`;
    const confirmed = await shop.post<EnrollmentRecord>(path, { payout_held_until: until });
    expect([confirmed.status, confirmed.body.payout_held_until]).toEqual([200, null]);
    expect(confirmed.body.payout_method).toMatchObject({ email: 'n***@pay.example' });
    expect(await heldBack(shop)).toEqual([null]);
    expect((await m.exportPayouts()).lines).toHaveLength(1);
    const { body: log } = await shop.get<{ entries: { target: object }[] }>(
      '/audit-log?action=enrollment.confirm_payout_method',
    );
    expect(log.entries).toMatchObject([
      { target: { type: 'enrollment', id: partner_id }, details: { payout_held_until: until } },
    ]);
  });

  test('that replaced the one that its owner has read is not confirmed', async ({ shop }) => {
    const { partner_id } = await withoutAddress();
    const read = await fromPage(shop, 'r', 'new@pay.example');
    const { payout_held_until } = read.body;
    const path = `/enrollments/${partner_id}/confirm-payout-method`;
    const changed = await fromPage(shop, 'r', 'nobody@pay.example');
    expect((await shop.post(path, { payout_held_until })).status).toBe(409);
    expect((await shop.post(path, { payout_held_until: null })).status).toBe(409);
    expect((await shop.post(path)).status).toBe(400);
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
    // The same address again is the same change.
    await fromPage(shop, 'r', 'nobody@pay.example');
    expect((await shop.post(path, { payout_held_until: changed.body.payout_held_until })).status).toBe(200);
    expect((await m.exportPayouts()).lines).toMatchObject([{ payout_email: 'nobody@pay.example' }]);
  });

  test('that is not there is not confirmed, nor another workspace’s', async ({ api, shop }) => {
    const { partner_id } = await withoutAddress();
    const path = `/enrollments/${partner_id}/confirm-payout-method`;
    const body = { payout_held_until: null };
    expect((await shop.post(path, body)).status).toBe(409);
    expect((await (await api.addWorkspace()).post(path, body)).status).toBe(404);
  });

  test('is confirmed by a member after a proof that it is them', async ({ api, shop }) => {
    const { partner_id } = await withoutAddress();
    const { body } = await fromPage(shop, 'r', 'new@pay.example');
    const member = await signedInAs(api, shop, 'operator');
    const path = `/enrollments/${partner_id}/confirm-payout-method`;
    const confirm = () => member.call('POST', path, { body: { payout_held_until: body.payout_held_until } });
    await api.stores.pool.query(
      `UPDATE sessions SET confirmed_at = confirmed_at - interval '1 hour' WHERE member_id = $1`,
      [member.id],
    );
    expect((await confirm()).body).toMatchObject({
      error: { details: [{ code: 'confirmation_required' }] },
    });
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
    expect((await member.call('POST', '/session/confirm', { body: { password: PASSWORD } })).status).toBe(
      200,
    );
    expect((await confirm()).status).toBe(200);
    expect(await heldBack(shop)).toEqual([null]);
  });

  test('holds nothing back with a valid user_hash, and with that of another user as without any', async ({
    shop,
  }) => {
    await withoutAddress();
    const { body } = await shop.post<{ identity_secret: string }>('/identity-secret');
    const hashOf = (user: string) => ({ user_hash: userHash(body.identity_secret, user) });
    expect((await fromPage(shop, 'r', 'mine@pay.example', hashOf('r'))).status).toBe(200);
    expect(await heldBack(shop)).toEqual([null]);
    expect((await fromPage(shop, 'r', 'thief@evil.example', hashOf('thief'))).status).toBe(200);
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
  });

  test('is held back for the days of the workspace, or not at all', async ({ api, shop }) => {
    const { partner_id } = await withoutAddress();
    await shop.patch('/workspace', { payout_hold_days: 5 });
    await fromPage(shop, 'r', 'new@pay.example');
    const age = (days: number) =>
      api.stores.pool.query(
        `UPDATE enrollments SET payout_unconfirmed_at = payout_unconfirmed_at - make_interval(days => $2) WHERE id = $1`,
        [partner_id, days],
      );
    await age(4);
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
    await age(1);
    expect(await heldBack(shop)).toEqual([null]);
    await shop.patch('/workspace', { payout_hold_days: 0 });
    await fromPage(shop, 'r', 'newest@pay.example');
    expect(await heldBack(shop)).toEqual([null]);
  });

  test('is in the history with the masked key and addresses, and in an event', async ({ api, shop }) => {
    const { partner_id, programId } = await withoutAddress();
    await m.address(partner_id, 'r');
    await fromPage(shop, 'r', 'thief@evil.example');
    const [lookup] = shop.publishableKey.split('_').slice(2);
    const history = await historyOf(shop, partner_id);
    expect(history.slice(0, 2)).toEqual([
      {
        at: expect.any(String),
        field: 'payout_method',
        from: 'paypal r***@pay.example',
        to: 'paypal t***@evil.example',
        by: `pk_live_${lookup}_***`,
      },
      {
        at: expect.any(String),
        field: 'payout_method',
        from: null,
        to: 'paypal r***@pay.example',
        by: expect.stringMatching(/^lk_live_[0-9a-f]{8}_\*\*\*$/),
      },
    ]);
    expect(JSON.stringify(history)).not.toContain(shop.publishableKey);
    expect((await changes(api, shop)).map(({ data }) => data)).toEqual(
      Array(2).fill({
        partner_id,
        program_id: programId,
        external_user_id: 'r',
        created_at: expect.any(String),
      }),
    );
  });

  test('is paid at once when a server sets the same one, and a page can not renew or end the hold', async ({
    api,
    shop,
  }) => {
    const { partner_id } = await withoutAddress();
    await m.address(partner_id, 'r');
    await fromPage(shop, 'r', 'r@pay.example'); // no change
    expect(await heldBack(shop)).toEqual([null]);
    await fromPage(shop, 'r', 'new@pay.example');
    await fromPage(shop, 'r', 'new@pay.example');
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
    const payout_method = { method: 'paypal', email: 'new@pay.example' };
    expect((await shop.patch(`/enrollments/${partner_id}`, { payout_method })).status).toBe(200);
    expect(await heldBack(shop)).toEqual([null]);
    expect(await changes(api, shop)).toHaveLength(2);
  });

  test('also holds when it changes back to the confirmed one', async ({ shop }) => {
    const { partner_id } = await withoutAddress();
    await m.address(partner_id, 'r');
    await fromPage(shop, 'r', 'thief@evil.example');
    await fromPage(shop, 'r', 'r@pay.example');
    expect(await heldBack(shop)).toEqual(['payout_method_changed']);
    await shop.post('/referrals/payout-method', {
      external_user_id: 'r',
      method: 'paypal',
      email: 'r@pay.example',
    });
    expect(await heldBack(shop)).toEqual([null]);
  });
});

describe('PATCH /enrollments/:id', () => {
  test('changes the email, with history', async ({ shop }) => {
    const { partner_id } = await withoutAddress();
    const changed = await shop.patch<EnrollmentRecord>(`/enrollments/${partner_id}`, {
      email: 'new@mail.example',
    });
    expect([changed.status, changed.body.email]).toEqual([200, 'new@mail.example']);
    expect((await historyOf(shop, partner_id))[0]).toMatchObject({
      field: 'email',
      from: 'r***@mail.example',
      to: 'n***@mail.example',
    });
    expect((await shop.patch(`/enrollments/${partner_id}`, { email: 'nobody' })).status).toBe(400);
    const payout_method = { method: 'wire', email: 'a@b.example' };
    const refused = await shop.patch(`/enrollments/${partner_id}`, { payout_method });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'method_not_offered']);
    expect((await shop.patch(`/enrollments/${partner_id}`, {})).status).toBe(200);
  });

  test('gives a referrer own terms, for later sales of level 1', async ({ shop }) => {
    const { partner_id } = await withoutAddress();
    const own = await shop.patch<EnrollmentRecord>(`/enrollments/${partner_id}`, { commission_rate: 50 });
    expect(own.body).toMatchObject({ commission_type: 'percent', commission_rate: 50 });
    await m.purchase('n', 'o2', 100);
    expect((await m.balance('r')).eligible).toBe(70);
    await shop.patch(`/enrollments/${partner_id}`, { commission_rate: 5, commission_type: 'flat' });
    await m.purchase('n', 'o3', 100);
    expect((await m.balance('r')).eligible).toBe(75);
    await shop.patch(`/enrollments/${partner_id}`, { commission_rate: null });
    await m.purchase('n', 'o4', 100);
    expect((await m.balance('r')).eligible).toBe(95);
    for (const body of [{ commission_rate: 101 }, { commission_type: 'flat' }, { commission_rate: -1 }]) {
      expect((await shop.patch(`/enrollments/${partner_id}`, body)).status).toBe(400);
    }
  });

  test('moves a referrer with the link to another program of the same currency', async ({ shop }) => {
    const { partner_id, ref } = await withoutAddress();
    const other = await m.program({
      ...PAID_AT_ONCE,
      commission_rate: 10,
      destination_url: 'https://shop.example/b',
    });
    const yen = await m.program({ ...PAID_AT_ONCE, currency: 'jpy' });
    const moved = await shop.patch<EnrollmentRecord>(`/enrollments/${partner_id}`, { program_id: other.id });
    expect([moved.status, moved.body.program_id]).toEqual([200, other.id]);
    const { body } = await shop.get<{ links: { destination: string }[] }>(`/links?view=records&slug=${ref}`);
    expect(body.links[0]?.destination).toContain('https://shop.example/b');
    await m.signup('n2', { ref_code: ref });
    await m.purchase('n2', 'o2', 100);
    await m.purchase('n', 'o3', 100); // an earlier referee stays in the first program
    expect((await m.balance('r')).eligible).toBe(50);
    expect((await shop.patch(`/enrollments/${partner_id}`, { program_id: yen.id })).status).toBe(409);
    expect((await shop.patch(`/enrollments/${partner_id}`, { program_id: crypto.randomUUID() })).status).toBe(
      404,
    );
    expect((await shop.patch(`/programs/${other.id}`, { currency: 'eur' })).status).toBe(409);
  });
});
