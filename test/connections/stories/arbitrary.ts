import fc from 'fast-check';
import { PROVIDERS } from '../../../core/connections/providers.ts';
import { CAN, type Story, type StoryPayment } from './model.ts';

const states = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 10 }) }, fc.constant('failed' as const)),
    {
      maxLength: 3,
    },
  )
  .map((parts) => {
    let sum = 0;
    let last = 0;
    return parts.flatMap((part): StoryPayment['refunds'] => {
      if (part === 'failed') {
        if (last === 0) return [];
        sum -= last;
        last = 0;
        return ['failed'];
      }
      last = part * 500;
      sum += last;
      return [sum];
    });
  });

const payment: fc.Arbitrary<StoryPayment> = fc.record({
  amount: fc.integer({ min: 40, max: 90 }).map((units) => units * 500),
  email: fc.constantFrom('own', 'other', 'none'),
  isNamed: fc.constantFrom(false, false, false, true),
  hasCoupon: fc.constantFrom(false, false, true),
  joined: fc.constantFrom('invoice', 'invoice_payment', 'checkout', 'never'),
  refunds: states,
  dispute: fc.constantFrom('none', 'none', 'none', 'open', 'won', 'lost'),
  isToldByHand: fc.boolean(),
  edited: fc.option(
    fc.integer({ min: 40, max: 90 }).map((units) => units * 500),
    { freq: 2 },
  ),
});

/** Leaves out what the provider's events can't report. */
function possible(story: Story): Story {
  const can = CAN[story.provider];
  const hasCoupon = can.coupon && !story.isFirstSaleOnly && story.payments.some((one) => one.hasCoupon);
  // A purchase that is joined late may change who pays later ones, which nothing changes any more.
  const isJoinedLate = story.isJoinedLate && story.provider === 'stripe' && !hasCoupon && !story.isAssigned;
  return {
    ...story,
    tie: story.tie === 'event' && !can.tie ? 'import' : story.tie,
    hasTrial: story.hasTrial && can.trial,
    isAccount: story.isAccount && story.provider === 'stripe',
    isShownInOther: story.isShownInOther && story.provider === 'shopify' && story.currency === 'usd',
    // The events of a deleted connection are gone, and with them what to assign.
    remadeAfter: story.isAssigned ? null : story.remadeAfter,
    isJoinedLate,
    // Commissions that are paid stay, also where a join tells late that the purchase is a renewal.
    payout: story.isAssigned || (isJoinedLate && story.isFirstSaleOnly) ? 'none' : story.payout,
    payments: story.payments.map((one) => ({
      ...one,
      edited:
        story.isAssigned || (story.provider !== 'stripe' && story.provider !== 'shopify') ? null : one.edited,
      hasCoupon: one.hasCoupon && can.coupon && !story.isFirstSaleOnly,
      // A charge that no event joins to its invoice has no dispute.
      dispute: can.dispute && one.joined !== 'never' ? one.dispute : 'none',
    })),
  };
}

/** A story, the order in which its events arrive, and which of them arrive twice. */
export const story = fc.record({
  story: fc
    .record({
      provider: fc.constantFrom('stripe' as const, ...PROVIDERS),
      tie: fc.constantFrom('none', 'none', 'none', 'event', 'import'),
      isFirstSaleOnly: fc.boolean(),
      isOwnReferrer: fc.constantFrom(false, false, false, false, true),
      hasTrial: fc.constantFrom(false, false, true),
      trialEmail: fc.constantFrom('own', 'other', 'none'),
      isAccount: fc.constantFrom(false, false, true),
      currency: fc.constantFrom('usd', 'usd', 'eur'),
      isShownInOther: fc.boolean(),
      isJoinedLate: fc.boolean(),
      payout: fc.constantFrom('none', 'open', 'paid'),
      isAssigned: fc.constantFrom(false, false, true),
      isCodeLate: fc.boolean(),
      payments: fc.array(payment, { minLength: 1, maxLength: 3 }),
      remadeAfter: fc.option(fc.nat({ max: 8 })),
    } satisfies { [field in keyof Story]: fc.Arbitrary<Story[field]> })
    .map(possible),
  shuffle: fc.array(fc.nat({ max: 1_000 }), { maxLength: 30 }),
  repeated: fc.array(fc.nat({ max: 1_000 }), { maxLength: 4 }),
  signsUpLast: fc.boolean(),
});
