/**
 * What the stories of one customer must come to, written from the contract alone: one payment is one purchase, a customer
 * whom anything has named is the same buyer in later payments, the first paid invoice is the first sale, and only what is
 * still refunded counts. Amounts are cents; the referrer earns 20 percent.
 */

/** One invoice of the customer's subscription, in the order of their times. */
export type StoryPayment = {
  amount: number;
  /** The email that the payment has: the user's, another, or none. */
  email: 'own' | 'other' | 'none';
  /** Whether its metadata names the user. */
  isNamed: boolean;
  /** What tells that invoice and payment intent are one; `never`: only the invoice is told of. */
  joined: 'invoice' | 'invoice_payment' | 'checkout' | 'never';
  /** States of its refunds by time: the sum so far, or that the last refund failed. */
  refunds: (number | 'failed')[];
  /** A refund by hand of the same amount as the first sum, which is the same refund. */
  isToldByHand: boolean;
};

export type Story = {
  /** What names the customer apart from payments. */
  tie: 'event' | 'import' | 'none';
  isFirstSaleOnly: boolean;
  payments: StoryPayment[];
  /** Number of events after which the connection is deleted and made again; null: never. */
  remadeAfter: number | null;
};

export type Expected = { amount: number; refunded: number; user: string | null; earned: number };

/** Returns the purchases of a story, in the order of their times. */
export function expectedOf({ tie, isFirstSaleOnly, payments }: Story): Expected[] {
  let isKnown = tie !== 'none';
  return payments.map(({ amount, email, isNamed, refunds }, index) => {
    isKnown ||= isNamed || email === 'own';
    const refunded = stillRefunded(refunds);
    const earns = isKnown && !(isFirstSaleOnly && index > 0);
    return { amount, refunded, user: isKnown ? 'n' : null, earned: earns ? (amount - refunded) / 5 : 0 };
  });
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
