import type { Provider } from '../../../core/connections/providers.ts';
import { halfEven } from '../../../core/money/money.ts';

/**
 * The expected end of the stories of one customer, written from the contract alone. One payment is one purchase. Once
 * anything has named a customer, later payments have the same buyer. The order of a coupon belongs to the coupon's
 * owner, unless metadata or a tie name a buyer. The first paid invoice is the first sale. Only what is still refunded
 * counts. Joins, amounts, and refunds count at any time. Amounts are cents; a referrer earns 20 percent.
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
  /** The event that joins an invoice and a payment intent of Stripe; `never`: only the invoice is reported. */
  joined: 'invoice' | 'invoice_payment' | 'checkout' | 'never';
  /** States of its refunds by time: the sum so far, or that the last refund failed. */
  refunds: (number | 'failed')[];
  dispute: 'none' | 'open' | 'won' | 'lost';
  /** The amount that the provider tells four days later; null: it stays. */
  edited: number | null;
  /** A refund by hand of the same amount as the first sum, which is the same refund. */
  isToldByHand: boolean;
};

export type Story = {
  provider: Provider;
  /** What names the customer besides payments. */
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
  /** The buyer pays in another currency, and refunds are reported in it. */
  isShownInOther: boolean;
  /** What tells that invoice and payment intent of Stripe are one is told four days later. */
  isJoinedLate: boolean;
  /** What the merchant does with the balances before what is told four days later. */
  payout: 'none' | 'open' | 'paid';
  /** At the end the merchant assigns the first payment without a referrer to `r2`. */
  isAssigned: boolean;
  payments: StoryPayment[];
  /** The provider tells the text of the code after the payments that name it by id. */
  isCodeLate: boolean;
  /** Number of events after which the connection is deleted and made again; null: never. */
  remadeAfter: number | null;
};

/** Value of one unit of a currency in the program's currency. */
export const RATE = { usd: 1, eur: 1.2 };

/** What buyers of Shopify pay in another currency: a multiple of the store's amount, and some cents. */
export const SHOWN = { currency: 'EUR', times: 2, more: 37 };

/** Whether anything happens four days after the events. */
export const hasLateEvents = ({ isJoinedLate, payout, payments }: Story): boolean =>
  isJoinedLate || payout !== 'none' || payments.some(({ edited }) => edited !== null);

/** `referrer`: the buyer's referrer `r`, or the coupon's owner `r2`; null: none. */
export type Expected = { amount: number; refunded: number; referrer: 'r' | 'r2' | null; earned: number };

/** What a provider's events can report at all. */
export const CAN: Record<
  Provider,
  { tie: boolean; coupon: boolean; dispute: boolean; trial: boolean; renewal: boolean }
> = {
  stripe: { tie: true, coupon: true, dispute: true, trial: true, renewal: true },
  paddle: { tie: true, coupon: true, dispute: true, trial: true, renewal: true },
  lemonsqueezy: { tie: false, coupon: false, dispute: false, trial: false, renewal: true },
  polar: { tie: true, coupon: true, dispute: false, trial: true, renewal: true },
  // A later order of a coupon's customer is not a renewal, so the coupon's owner earns nothing from it.
  shopify: { tie: false, coupon: false, dispute: false, trial: false, renewal: false },
};

/**
 * Returns the purchases of a story, in the order of their times.
 *
 * @param isAssigned one without a referrer was assigned
 */
export function expectedOf(story: Story, isAssigned = false): Expected[] {
  const { provider, tie, isFirstSaleOnly, isOwnReferrer, hasTrial, trialEmail, payments, currency } = story;
  // The metadata of Stripe belongs to the payment. The other providers report it for the customer too.
  const isTied = tie !== 'none' || (provider !== 'stripe' && payments.some(({ isNamed }) => isNamed));
  // Paddle reports the email of a customer, not that of a payment.
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
    const amount = one.edited ?? one.amount;
    const refunded = refundedOf(one, story);
    const isFirst = CAN[provider].renewal ? index === 0 : !haveEarned.has(known);
    const earns = known !== null && !(known === 'r' && isOwnReferrer) && (!isFirstSaleOnly || isFirst);
    if (earns) haveEarned.add(known);
    earlier = known ?? earlier;
    return {
      amount,
      refunded,
      referrer: known,
      earned: earns ? leftOf(Math.round((amount / 5) * RATE[currency]), refunded, amount) : 0,
    };
  });
}

/** What is refunded or withdrawn of a payment in the end. */
function refundedOf({ amount, edited, refunds, dispute }: StoryPayment, { isShownInOther }: Story): number {
  const withdrawn = dispute === 'open' || dispute === 'lost' ? amount : 0;
  const sold = edited ?? amount;
  const still = stillRefunded(refunds);
  const { times, more } = SHOWN;
  return Math.min(
    sold,
    (isShownInOther ? partOf(still * times, sold, sold * times + more) : still) + withdrawn,
  );
}

/** What refunds leave of a commission. */
const leftOf = (commission: number, refunded: number, amount: number): number =>
  commission - partOf(commission, refunded, amount);

const partOf = (amount: number, times: number, through: number): number =>
  Number(halfEven(BigInt(amount) * BigInt(times), BigInt(through)));

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
