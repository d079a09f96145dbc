import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCredits, toHundredths } from './credits.ts';
import { addMonths, type Earner, type PurchaseFacts, purchaseRewards } from './purchase-reward.ts';
import { reversedAmount } from './refund.ts';
import { blockReasonOf, type ReferrerTraits, type SignupTraits } from './self-referral.ts';
import { signupGrants } from './signup-reward.ts';
import { NO_OWN_TERMS, type Terms } from './terms.ts';

const TERMS: Terms = {
  status: 'active',
  creditEnabled: false,
  creditKind: 'credits',
  signupCredit: { free: 500, paid: 1000 },
  purchaseCredit: 2000,
  refereeCredit: 300,
  commissionType: 'percent',
  commissionRate: 20,
  levels: [],
  firstSaleOnly: false,
  commissionMonths: null,
  holdDays: 30,
  currency: 'usd',
  signupsFrom: 'any',
  maxSignupsPerDay: null,
  review: 'none',
};

const earner = (id: string, changes: Partial<Earner> = {}): Earner => ({
  enrollmentId: id,
  externalUserId: `user-${id}`,
  emails: [`${id}@example.com`],
  status: 'approved',
  rewardMode: 'referrer',
  ownTerms: NO_OWN_TERMS,
  ...changes,
});

const facts = (
  changes: Omit<Partial<PurchaseFacts>, 'terms' | 'sale'> & {
    terms?: Partial<Terms>;
    sale?: Partial<PurchaseFacts['sale']>;
  } = {},
): PurchaseFacts => ({
  tracksCommission: true,
  blockReason: null,
  earners: [earner('a')],
  signupEmail: null,
  signedUpAt: new Date('2026-01-01T00:00:00Z'),
  earlier: { rewarded: false, firstAt: null },
  rate: 1,
  ...changes,
  terms: { ...TERMS, ...changes.terms },
  sale: {
    externalUserId: 'buyer',
    email: null,
    amountMinor: 10_000,
    commissionableMinor: changes.sale?.amountMinor ?? 10_000,
    currency: 'usd',
    isRenewal: false,
    purchasedAt: new Date('2026-03-01T00:00:00Z'),
    ...changes.sale,
  },
});

describe('a purchase', () => {
  test('of a program without credits earns commission in either mode', () => {
    for (const rewardMode of ['referrer', 'affiliate'] as const) {
      expect(purchaseRewards(facts({ earners: [earner('a', { rewardMode })] }))).toEqual({
        rewards: [{ type: 'commission', enrollmentId: 'a', level: 1, amountMinor: 2000 }],
        reason: null,
        withoutRate: false,
      });
    }
  });

  test('of a credit program earns credits from a referrer and commission from an affiliate', () => {
    const terms = { creditEnabled: true };
    expect(purchaseRewards(facts({ terms })).rewards).toEqual([
      { type: 'credit', enrollmentId: 'a', amount: 2000 },
    ]);
    expect(
      purchaseRewards(facts({ terms, earners: [earner('a', { rewardMode: 'affiliate' })] })).rewards,
    ).toEqual([{ type: 'commission', enrollmentId: 'a', level: 1, amountMinor: 2000 }]);
  });

  test('pays each level its own rate of the sale, for all levels and referrers', () => {
    const earners = ['a', 'b', 'c', 'd'].map((id) => earner(id));
    const { rewards } = purchaseRewards(facts({ terms: { levels: [10, 5] }, earners }));
    expect(rewards).toEqual([
      { type: 'commission', enrollmentId: 'a', level: 1, amountMinor: 2000 },
      { type: 'commission', enrollmentId: 'b', level: 2, amountMinor: 1000 },
      { type: 'commission', enrollmentId: 'c', level: 3, amountMinor: 500 },
    ]);
  });

  test('pays higher levels in flat amounts when the program does', () => {
    const terms = { commissionType: 'flat', commissionRate: 20, levels: [2.5] } as const;
    const { rewards } = purchaseRewards(
      facts({ terms: { ...terms, levels: [2.5] }, earners: [earner('a'), earner('b')] }),
    );
    expect(rewards.map((reward) => reward.type === 'commission' && reward.amountMinor)).toEqual([2000, 250]);
  });

  test('on a credit program pays higher levels only as affiliates', () => {
    const terms = { creditEnabled: true, levels: [10, 5] };
    const earners = [earner('a'), earner('b'), earner('c', { rewardMode: 'affiliate' })];
    expect(purchaseRewards(facts({ terms, earners })).rewards).toEqual([
      { type: 'credit', enrollmentId: 'a', amount: 2000 },
      { type: 'commission', enrollmentId: 'c', level: 3, amountMinor: 500 },
    ]);
  });

  test('never pays the buyer or one referrer twice, even when referrals form a circle', () => {
    const earners = [
      earner('a'),
      earner('b', { externalUserId: 'buyer' }),
      earner('a'),
      earner('c', { emails: ['b.uyer+x@gmail.com'] }),
      earner('d'),
    ];
    const { rewards } = purchaseRewards(
      facts({ terms: { levels: [10, 5, 4, 3] }, earners, sale: { email: 'buyer@googlemail.com' } }),
    );
    expect(rewards.map((reward) => reward.enrollmentId)).toEqual(['a', 'd']);
  });

  test('skips a suspended higher level and pays the ones above', () => {
    const earners = [earner('a'), earner('b', { status: 'suspended' }), earner('c')];
    const { rewards } = purchaseRewards(facts({ terms: { levels: [10, 5] }, earners }));
    expect(rewards.map((reward) => reward.enrollmentId)).toEqual(['a', 'c']);
  });

  test('that earns nothing has a reason', () => {
    const reason = (given: Parameters<typeof facts>[0]) => purchaseRewards(facts(given)).reason;
    const sold = { rewarded: true, firstAt: new Date('2026-01-31T12:00:00Z') };
    expect(reason({ tracksCommission: false })).toBe('plan_has_no_commission_tracking');
    expect(reason({ terms: { firstSaleOnly: true }, sale: { isRenewal: true } })).toBe('renewal_not_covered');
    expect(reason({ terms: { firstSaleOnly: true }, earlier: sold })).toBe('not_first_sale');
    expect(reason({ blockReason: 'same_ip' })).toBe('self_referral');
    expect(reason({ sale: { email: 'A+shop@example.com' } })).toBe('self_referral');
    expect(reason({ blockReason: 'suspended' })).toBe('suspended');
    expect(reason({ earners: [earner('a', { status: 'suspended' })] })).toBe('suspended');
    expect(reason({ terms: { status: 'paused' } })).toBe('program_paused');
    expect(reason({ terms: { commissionRate: 0 } })).toBe('no_reward_configured');
    expect(reason({ terms: { creditEnabled: true, purchaseCredit: 0 } })).toBe('no_reward_configured');
    expect(reason({ sale: { amountMinor: 0 } })).toBe('amount_too_small');
    expect(reason({ sale: { amountMinor: 1 } })).toBe('amount_too_small');
    expect(reason({ sale: { commissionableMinor: 0 } })).toBe('amount_too_small');
    expect(reason({ terms: { creditEnabled: true }, sale: { amountMinor: 0 } })).toBe('amount_too_small');
    for (const blockReason of ['duplicate_referee', 'mutual_referral', 'cap', 'rejected'] as const) {
      expect(reason({ blockReason })).toBe(blockReason);
    }
    const signedUpAt = new Date('2026-03-04T00:00:00.001Z');
    expect(reason({ signedUpAt })).toBe('before_signup');
    expect(reason({ signedUpAt: new Date('2026-03-04T00:00:00Z') })).toBeNull();
    expect(reason({ sale: { currency: 'sek' }, rate: null })).toBe('no_currency_rate');
    expect(reason({ sale: { currency: 'sek' }, rate: 1e15 })).toBe('no_currency_rate');
    expect(reason({ terms: { commissionMonths: 1 }, earlier: sold })).toBe('renewal_not_covered');
  });

  test('earns commission on its commissionable part only', () => {
    const { rewards } = purchaseRewards(
      facts({
        terms: { levels: [10] },
        earners: [earner('a'), earner('b')],
        sale: { commissionableMinor: 4_000 },
      }),
    );
    expect(rewards.map((reward) => reward.type === 'commission' && reward.amountMinor)).toEqual([800, 400]);
  });

  test('in credits says when a commission of a higher level lacks a rate', () => {
    const outcome = purchaseRewards(
      facts({
        terms: { creditEnabled: true, levels: [10] },
        earners: [earner('a'), earner('b', { rewardMode: 'affiliate' })],
        sale: { currency: 'sek' },
        rate: null,
      }),
    );
    expect(outcome).toMatchObject({ rewards: [{ type: 'credit' }], reason: null, withoutRate: true });
  });

  test('in credits needs no commission tracking', () => {
    expect(
      purchaseRewards(facts({ terms: { creditEnabled: true }, tracksCommission: false })).reason,
    ).toBeNull();
  });

  test('counts commission months from the first purchase, to the month, on its last day at most', () => {
    const firstAt = new Date('2026-01-31T12:00:00Z');
    const at = (purchasedAt: string) =>
      purchaseRewards(
        facts({
          terms: { commissionMonths: 1 },
          earlier: { rewarded: true, firstAt },
          sale: { purchasedAt: new Date(purchasedAt) },
        }),
      ).reason;
    expect(at('2026-02-28T11:59:59.999Z')).toBeNull();
    expect(at('2026-02-28T12:00:00Z')).toBe('renewal_not_covered');
    expect(addMonths(firstAt, 13)).toEqual(new Date('2027-02-28T12:00:00Z'));
  });
});

describe('a signup', () => {
  const terms = { ...TERMS, creditEnabled: true };

  test('earns the referrer the credit of the tier, and the referee a credit', () => {
    expect(signupGrants(terms, { tier: 'paid', rewardMode: 'referrer' }, null)).toEqual([
      { cause: 'signup', amount: 1000, revokedReason: null },
      { cause: 'referee', amount: 300, revokedReason: null },
    ]);
  });

  test('earns no credits in affiliate mode, in a paused program, and in one without credits', () => {
    expect(signupGrants(terms, { tier: 'free', rewardMode: 'affiliate' }, null)).toEqual([]);
    expect(
      signupGrants({ ...terms, status: 'paused' }, { tier: 'free', rewardMode: 'referrer' }, null),
    ).toEqual([]);
    expect(signupGrants(TERMS, { tier: 'free', rewardMode: 'referrer' }, null)).toEqual([]);
  });

  test('that is blocked leaves its rewards as revoked', () => {
    expect(signupGrants(terms, { tier: 'free', rewardMode: 'referrer' }, 'same_email')).toEqual([
      { cause: 'signup', amount: 500, revokedReason: 'same_email' },
    ]);
  });
});

describe('self-referral', () => {
  const address = Buffer.from('one');
  const referrer: ReferrerTraits = {
    externalUserId: 'r',
    status: 'approved',
    emails: ['r@example.com'],
    deviceIds: ['d1'],
    addressHash: address,
  };
  const signup: SignupTraits = {
    externalUserId: 's',
    email: 's@example.com',
    deviceId: 'd2',
    isReferrersVisitor: false,
    addressHash: address,
    isDuplicate: false,
    isMutual: false,
    isOverCap: false,
  };

  test('is found by user, mailbox, device, visitor, address and suspension, in this order', () => {
    expect(blockReasonOf(referrer, signup)).toBeNull();
    expect(blockReasonOf(referrer, { ...signup, externalUserId: 'r', email: 'r@example.com' })).toBe(
      'same_user',
    );
    expect(blockReasonOf(referrer, { ...signup, email: 'R+2@example.com', deviceId: 'd1' })).toBe(
      'same_email',
    );
    expect(blockReasonOf(referrer, { ...signup, deviceId: 'd1', isReferrersVisitor: true })).toBe(
      'same_device',
    );
    expect(blockReasonOf(referrer, { ...signup, deviceId: null, isReferrersVisitor: true })).toBe(
      'same_visitor',
    );
    expect(blockReasonOf({ ...referrer, status: 'suspended' }, { ...signup, deviceId: null })).toBe(
      'same_ip',
    );
    expect(blockReasonOf({ ...referrer, status: 'suspended' }, signup)).toBe('suspended');
  });

  test('comes before a duplicate, a mutual referral, a suspension and the cap, in this order', () => {
    const clean = { ...signup, addressHash: null };
    const all = { ...clean, isDuplicate: true, isMutual: true, isOverCap: true };
    const suspended: ReferrerTraits = { ...referrer, status: 'suspended' };
    expect(blockReasonOf(suspended, { ...all, externalUserId: 'r' })).toBe('same_user');
    expect(blockReasonOf(suspended, all)).toBe('duplicate_referee');
    expect(blockReasonOf(suspended, { ...all, isDuplicate: false })).toBe('mutual_referral');
    expect(blockReasonOf(suspended, { ...clean, isOverCap: true })).toBe('suspended');
    expect(blockReasonOf(referrer, { ...clean, isOverCap: true })).toBe('cap');
  });

  test('by address requires two calls from browsers and a missing device id', () => {
    expect(blockReasonOf({ ...referrer, deviceIds: [] }, signup)).toBe('same_ip');
    expect(blockReasonOf(referrer, { ...signup, deviceId: null })).toBe('same_ip');
    expect(blockReasonOf({ ...referrer, addressHash: null }, { ...signup, deviceId: null })).toBeNull();
    expect(blockReasonOf(referrer, { ...signup, deviceId: null, addressHash: null })).toBeNull();
    expect(
      blockReasonOf(referrer, { ...signup, deviceId: null, addressHash: Buffer.from('two') }),
    ).toBeNull();
  });
});

describe('a refund', () => {
  test('in parts reverses exactly what one refund of their sum would', () => {
    const order = fc.integer({ min: 1, max: 1_000_000_000 });
    fc.assert(
      fc.property(
        order,
        fc.integer({ min: 1, max: 1_000_000_000 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
        (orderMinor, commission, cuts) => {
          const marks = [...cuts.map((cut) => Math.floor(cut * orderMinor)), orderMinor].sort(
            (a, b) => a - b,
          );
          let taken = 0;
          for (const mark of marks) {
            const part = reversedAmount(commission, orderMinor, mark, taken);
            expect(part).toBeGreaterThanOrEqual(0);
            taken += part;
            expect(taken).toBe(reversedAmount(commission, orderMinor, mark, 0));
          }
          expect(taken).toBe(commission);
        },
      ),
    );
  });
});

test('credits have two decimals and survive the conversion to hundredths', () => {
  expect(toHundredths(0.29)).toBe(29);
  expect(toHundredths(1.005)).toBeNull();
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000_000_000 }), (hundredths) => {
      expect(toHundredths(toCredits(hundredths))).toBe(hundredths);
    }),
  );
});
