import type { Provider } from '../../../core/connections/providers.ts';

/**
 * What the stories of one customer must come to, written from the contract alone: one payment is one purchase, a
 * customer whom anything has named is the same buyer in later payments, a coupon's order is its owner's unless metadata
 * or a tie name a buyer, the first paid invoice is the first sale, and only what is still refunded counts. Amounts are
 * cents; a referrer earns 20 percent.
 */

/** One payment of the customer, in the order of their times. */
export type StoryPayment = {
  amount: number;
  /** The email that the payment has: the user's, another, or none. */
  email: 'own' | 'other' | 'none';
  /** Whether its metadata names the user. */
  isNamed: boolean;
  /** Whether it uses the coupon of another referrer. */
  hasCoupon: boolean;
  /** What tells that invoice and payment intent of Stripe are one; `never`: only the invoice is told of. */
  joined: 'invoice' | 'invoice_payment' | 'checkout' | 'never';
  /** States of its refunds by time: the sum so far, or that the last refund failed. */
  refunds: (number | 'failed')[];
  dispute: 'none' | 'open' | 'won' | 'lost';
  /** A refund by hand of the same amount as the first sum, which is the same refund. */
  isToldByHand: boolean;
};

export type Story = {
  provider: Provider;
  /** What names the customer apart from payments. */
  tie: 'event' | 'import' | 'none';
  isFirstSaleOnly: boolean;
  /** The referrer `r` is paid at the email of the user, and is the user. */
  isOwnReferrer: boolean;
  /** A free first invoice of the subscription, before the payments. */
  hasTrial: boolean;
  /** The email of the free first invoice, which names the customer of the subscription. */
  trialEmail: StoryPayment['email'];
  /** Who pays is an account instead of a customer. */
  isAccount: boolean;
  /** Of the payments; the program's is usd. */
  currency: 'usd' | 'eur';
  /** The buyer pays in another currency, and so refunds are told. */
  isShownInOther: boolean;
  /** At the end the merchant assigns the first payment without a referrer to `r2`. */
  isAssigned: boolean;
  payments: StoryPayment[];
  /** The provider tells the text of the code after the payments that name it by id. */
  isCodeLate: boolean;
  /** Number of events after which the connection is deleted and made again; null: never. */
  remadeAfter: number | null;
};

/** What an amount of a currency is worth in the program's. */
export const RATE = { usd: 1, eur: 1.2 };

/** `referrer`: who referred the buyer, `r`; or the coupon's owner, `r2`; null: no one is known. */
export type Expected = { amount: number; refunded: number; referrer: 'r' | 'r2' | null; earned: number };

/** What a provider's events can tell at all. */
export const CAN: Record<
  Provider,
  { tie: boolean; coupon: boolean; dispute: boolean; trial: boolean; renewal: boolean }
> = {
  stripe: { tie: true, coupon: true, dispute: true, trial: true, renewal: true },
  paddle: { tie: true, coupon: true, dispute: true, trial: true, renewal: true },
  lemonsqueezy: { tie: false, coupon: false, dispute: false, trial: false, renewal: true },
  polar: { tie: true, coupon: true, dispute: false, trial: true, renewal: true },
  // A later order of a coupon's customer is no renewal, so that the coupon's owner has no part in it.
  shopify: { tie: false, coupon: false, dispute: false, trial: false, renewal: false },
};

/**
 * Returns the purchases of a story, in the order of their times.
 *
 * @param isAssigned one without a referrer was assigned
 */
export function expectedOf(
  { provider, tie, isFirstSaleOnly, isOwnReferrer, hasTrial, trialEmail, payments, currency }: Story,
  isAssigned = false,
): Expected[] {
  // The metadata of Stripe is of the payment; that of the others is told of the customer too.
  const isTied = tie !== 'none' || (provider !== 'stripe' && payments.some(({ isNamed }) => isNamed));
  // Paddle tells the email of a customer, not of a payment.
  const emailOf = (one: StoryPayment) => (provider === 'paddle' ? payments[0] : one)?.email;
  const isNamedByTrial = hasTrial && provider !== 'paddle' && trialEmail === 'own';
  let earlier: Expected['referrer'] = isNamedByTrial ? 'r' : null;
  const haveEarned = new Set<Expected['referrer']>();
  return payments.map((one, index) => {
    const isNamed = one.isNamed || isTied;
    // An assignment ties the customer: it comes before an email and an earlier purchase, and a coupon of the same
    // owner.
    const untied = one.hasCoupon || isAssigned ? 'r2' : (earlier ?? (emailOf(one) === 'own' ? 'r' : null));
    const known = isNamed ? 'r' : untied;
    const refunded = refundedOf(one);
    const isFirst = CAN[provider].renewal ? index === 0 : !haveEarned.has(known);
    const earns = known !== null && !(known === 'r' && isOwnReferrer) && (!isFirstSaleOnly || isFirst);
    if (earns) haveEarned.add(known);
    earlier = known ?? earlier;
    return {
      amount: one.amount,
      refunded,
      referrer: known,
      earned: earns ? Math.round(((one.amount - refunded) / 5) * RATE[currency]) : 0,
    };
  });
}

/** What is refunded or withdrawn of a payment in the end. */
function refundedOf({ amount, refunds, dispute }: StoryPayment): number {
  const withdrawn = dispute === 'open' || dispute === 'lost' ? amount : 0;
  return Math.min(amount, stillRefunded(refunds) + withdrawn);
}

/** The newest sum, less the last refund where that failed. */
export function stillRefunded(refunds: StoryPayment['refunds']): number {
  let sum = 0;
  let last = 0;
  for (const state of refunds) {
    if (state === 'failed') sum -= last;
    else [sum, last] = [state, state - sum];
    if (state === 'failed') last = 0;
  }
  return sum;
}
