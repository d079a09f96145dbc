import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { type Merchant, PAID_AT_ONCE } from './support.ts';

const referral = (m: Merchant, program: object = {}) => m.referral({ ...PAID_AT_ONCE, ...program });

describe('reward-mode', () => {
  merchantTest('switches in both directions and returns the mode', async ({ m }) => {
    const { partner_id, program_id } = await referral(m);
    const up = await m.mode('r', 'affiliate');
    expect([up.status, up.body]).toEqual([200, { partner_id, program_id, reward_mode: 'affiliate' }]);
    expect((await m.mode('r', 'affiliate')).status).toBe(200);
    expect((await m.stats('r')).reward_mode).toBe('affiliate');
    expect((await m.mode('r', 'referrer')).body.reward_mode).toBe('referrer');
  });

  merchantTest(
    'returns 403 where the program allows no upgrade, 400 for another mode or without a user, 404 for an unknown user',
    async ({ shop, m }) => {
      await referral(m, { allow_affiliate_upgrade: false });
      const refused = await shop.post('/referrals/reward-mode', { external_user_id: 'r', mode: 'affiliate' });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
      expect((await m.mode('r', 'referrer')).status).toBe(200);
      expect((await m.mode('r', 'partner')).status).toBe(400);
      expect((await shop.post('/referrals/reward-mode', { mode: 'affiliate' })).status).toBe(400);
      expect((await shop.post('/referrals/reward-mode', { external_user_id: 'r' })).status).toBe(400);
      expect((await m.mode('stranger', 'affiliate')).status).toBe(404);
    },
  );

  merchantTest('works with a publishable key', async ({ shop, m }) => {
    await referral(m);
    const body = { external_user_id: 'r', mode: 'affiliate' };
    expect((await shop.post('/referrals/reward-mode', body, { key: shop.publishableKey })).status).toBe(200);
  });
});

describe('payout-method', () => {
  const save = (shop: TestWorkspace, fields: object, key = shop.publishableKey) =>
    shop.post<Record<string, unknown>>(
      '/referrals/payout-method',
      { external_user_id: 'r', ...fields },
      { key },
    );

  merchantTest('is saved masked, and paypal_email is returned only with paypal', async ({ shop, m }) => {
    const { partner_id, program_id } = await referral(m);
    await m.mode('r', 'affiliate');
    const paypal = await save(shop, { method: 'paypal', paypal_email: 'jane@example.com' });
    expect([paypal.status, paypal.body]).toEqual([
      200,
      {
        partner_id,
        program_id,
        payout_method: { method: 'paypal', email: 'j***@example.com', paypal_email: 'j***@example.com' },
        paypal_email: 'j***@example.com',
        payout_held_until: expect.any(String),
      },
    ]);
    expect((await m.stats('r')).affiliate.payout_method).toEqual(paypal.body.payout_method);
    const wise = await save(shop, { method: 'wise', email: 'x@example.com', paypal_email: 'y@example.com' });
    expect(wise.body).toEqual({
      partner_id,
      program_id,
      payout_method: { method: 'wise', email: 'x***@example.com' },
      payout_held_until: expect.any(String),
    });
    expect((await m.stats('r')).affiliate.payout_method).toEqual({
      method: 'wise',
      email: 'x***@example.com',
    });
  });

  merchantTest(
    'is rejected outside affiliate mode, for a method that is not offered, and without an address',
    async ({ shop, m }) => {
      await referral(m, { credit_enabled: true });
      const outside = await shop.post('/referrals/payout-method', {
        external_user_id: 'r',
        method: 'paypal',
        email: 'a@example.com',
      });
      expect([outside.status, outside.body.error.code]).toEqual([403, 'forbidden']);
      await m.mode('r', 'affiliate');
      for (const method of ['payoneer', 'bank_transfer']) {
        const response = await shop.post('/referrals/payout-method', {
          external_user_id: 'r',
          method,
          email: 'a@example.com',
        });
        expect([response.status, response.body.error.code]).toEqual([400, 'method_not_offered']);
      }
      expect((await save(shop, { method: 'paypal' })).status).toBe(400);
      for (const field of ['email', 'paypal_email']) {
        const refused = await shop.post('/referrals/payout-method', {
          external_user_id: 'r',
          method: 'paypal',
          [field]: 'nobody@one,two.example',
        });
        expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, field]);
      }
      expect((await save(shop, { email: 'a@example.com' })).status).toBe(400);
      expect(
        (await save(shop, { external_user_id: 's', method: 'paypal', email: 'a@example.com' })).status,
      ).toBe(404);
    },
  );
});
