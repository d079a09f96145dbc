import { halfEven } from '../money/money.ts';
import type { Buyer, Money, Part, PartSale, Payer, PaymentFact, Refunded } from './connector.ts';
import { PROVIDERS, type Provider, providerWords } from './providers.ts';

/** What is known of one payment, by the names of its parts. */
export type Parts = Readonly<Record<string, Part>>;

/** How long events of a payment may arrive in any order and change its buyer. Milliseconds. */
export const OPEN_MS = 72 * 3_600_000;

/** Returns the parts with one more. Of two parts of one name the same one stays, in whatever order they come. */
export function withPart(parts: Parts, { part: name, is }: Pick<PaymentFact, 'part' | 'is'>): Parts {
  const known = parts[name];
  return known && compare(known, is) >= 0 ? parts : { ...parts, [name]: is };
}

/** Returns the parts of two payments that turned out to be one. */
export function joinedParts(one: Parts, other: Parts): Parts {
  let parts = one;
  for (const [name, is] of Object.entries(other)) parts = withPart(parts, { part: name, is });
  return parts;
}

/** Compares two states of an object: the newer one is the greater one. Of equal ones the first that came stays. */
function compare(one: Part, other: Part): number {
  const others = weightOf(other);
  const differences = weightOf(one).map((value, index) => value - (others[index] ?? 0));
  return (one.rank ?? 0) - (other.rank ?? 0) || one.at - other.at || differences.find((by) => by !== 0) || 0;
}

/** A dispute that was won ends it: an appeal may win one that was lost. */
const DISPUTE_ORDER = { inquiry: 0, taken: 1, won: 2 } as const;

/**
 * Returns what decides between two states of one time, because Stripe writes whole seconds: the later state of a
 * dispute, then more money, then more names of the buyer.
 */
const weightOf = ({ refunded, dispute, sale, buyer, email, codes }: Part): number[] => [
  dispute ? DISPUTE_ORDER[dispute.state] : 0,
  refunded?.minor ?? dispute?.minor ?? sale?.amountMinor ?? 0,
  refunded?.goods ?? sale?.commissionableMinor ?? 0,
  Object.values(buyer ?? {}).filter((name) => name !== null).length + (email ? 1 : 0) + (codes?.length ?? 0),
];

const order = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);

/** What the parts of a payment say. */
export type PaymentState = {
  /** Null: nothing was paid as far as is known, or it is not known yet what it belongs to. */
  sale: PartSale | null;
  /** The payment may be of an invoice that is not known yet. */
  isUnsure: boolean;
  /** The names of the buyer, the ones to try first in front. */
  buyers: readonly Buyer[];
  /** The emails of the payment's objects, which may differ: the one to try first in front. */
  emails: readonly string[];
  codes: readonly string[];
  /** Whether the provider knows an earlier paid invoice of the subscription; null: it was not asked. */
  hasEarlier: boolean | null;
  /** How much of the sale refunds take back, at most its amount: goods alone are their share of it. Minor units. */
  refundedMinor: number;
  /** What the provider gave back, tax and shipping included, at most the sale's amount. Minor units. */
  givenMinor: number;
  /** Something was given back in a currency that no part converts to the sale's. */
  isUnconverted: boolean;
};

/**
 * Returns what the parts of a payment say.
 *
 * @param isOver the payment has waited long enough for an invoice: it has none
 */
export function paymentState(parts: Parts, isOver: boolean): PaymentState {
  // By name from the last to the first: a checkout session before the objects that it made.
  const all = Object.entries(withoutFailed(parts))
    .sort(([one], [other]) => order(other, one))
    .map(([, part]) => part);
  const sales = all.flatMap(({ sale }) => sale ?? []).sort((a, b) => b.precedence - a.precedence);
  const standings = new Set(all.flatMap(({ standing }) => standing ?? []));
  const ofInvoice = standings.has('invoice');
  const isUnsure = !ofInvoice && !standings.has('alone') && standings.has('unsure') && !isOver;
  const [best] = isUnsure ? [] : sales.filter((sale) => !ofInvoice || sale.precedence >= INVOICE);
  const sale = best ? sharedSale(best, all) : null;
  return {
    sale,
    isUnsure,
    buyers: all.flatMap(({ buyer }) => buyer ?? []),
    emails: [...new Set(all.flatMap(({ email }) => email || []))],
    codes: [...new Set(all.flatMap(({ codes }) => codes ?? []))],
    hasEarlier: all.find(({ hasEarlier }) => hasEarlier !== undefined)?.hasEarlier ?? null,
    ...givenBack(withSplits(parts, all), sale),
  };
}

/** Leaves out which part of a refund is goods if that refund failed, or is not told yet. */
const withSplits = (parts: Parts, all: readonly Part[]): Part[] =>
  all.map((part) => {
    const { split } = part;
    const isOpen = split?.of === undefined || (parts[split.of]?.refunded?.minor ?? 0) > 0;
    return isOpen ? part : { ...part, split: undefined };
  });

/** Precedence of an invoice's sale: what is of an invoice has no other. */
export const INVOICE = 10;

/** The sale of an invoice knows its own tax and shipping; another one has them from the checkout. */
function sharedSale(sale: PartSale, all: readonly Part[]): PartSale {
  const share = all.find((part) => part.share)?.share;
  if (!share || sale.precedence >= INVOICE || share.totalMinor <= 0) return sale;
  const part = halfEven(
    BigInt(sale.amountMinor) * BigInt(Math.max(0, share.commissionableMinor)),
    BigInt(share.totalMinor),
  );
  return { ...sale, commissionableMinor: Math.min(sale.amountMinor, Number(part)) };
}

/** Lowers what was given back by the refunds that failed since. */
function withoutFailed(parts: Parts): Parts {
  const failed = Object.values(parts).flatMap(({ at, failedRefund }) =>
    failedRefund ? [{ at, ...failedRefund }] : [],
  );
  if (failed.length === 0) return parts;
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => {
      const { refunded, at } = part;
      if (!refunded) return [name, part];
      const lost = failed.filter(
        (one) => (one.of ?? name) === name && one.at >= at && one.currency === refunded.currency,
      );
      return [name, { ...part, refunded: lost.reduce(less, refunded) }];
    }),
  );
}

/** Returns a sum of refunds without one of them. Goods that either does not tell are of the same share as before. */
function less(sum: Refunded, failed: Refunded): Refunded {
  const minor = Math.max(0, sum.minor - failed.minor);
  if (sum.goods === undefined) return { ...sum, minor };
  const goods =
    failed.goods === undefined ? partOf(sum.goods, minor, sum.minor) : Math.max(0, sum.goods - failed.goods);
  return { ...sum, minor, goods };
}

/** Returns an amount times one number through another, rounded half to even; 0 where the last one is 0. */
const partOf = (amount: number, times: number, through: number): number =>
  through === 0 ? 0 : Number(halfEven(BigInt(amount) * BigInt(times), BigInt(through)));

/** What refunds of one currency take back: amounts of goods, tax and shipping alike, and amounts of goods alone. */
type Taken = { amountMinor: number; goodsMinor: number };

/** Returns the goods of a refund; undefined: it is of goods, tax and shipping alike. */
const goodsOf = ({ goods }: Refunded, sale: PartSale): number | undefined =>
  goods !== undefined && goods > 0 && sale.commissionableMinor === 0 ? undefined : goods;

/**
 * Returns how much of a sale refunds take back, in their currency: of goods alone the part that they are of all goods,
 * so that tax and shipping, which earned nothing, take no commission back.
 */
const takenBack = ({ amountMinor, goodsMinor }: Taken, sale: PartSale): number =>
  amountMinor + partOf(goodsMinor, sale.amountMinor, sale.commissionableMinor);

/**
 * Sums what was given back in the sale's currency. An amount of another one is converted, or left out. Amounts of one
 * currency are summed before they are converted and rounded: so parts come to what one refund of their sum would.
 */
function givenBack(
  all: readonly Part[],
  sale: PartSale | null,
): Pick<PaymentState, 'refundedMinor' | 'givenMinor' | 'isUnconverted'> {
  if (sale === null) return { refundedMinor: 0, givenMinor: 0, isUnconverted: false };
  const pairs = all.flatMap(({ pair }) => (pair ? [pair] : []));
  const given = new Map<string, number>();
  const taken = new Map<string, Taken>();
  const give = ({ minor, currency }: Money) => given.set(currency, (given.get(currency) ?? 0) + minor);
  const take = (money: Refunded, minor: number, goods: number | undefined) => {
    const { amountMinor, goodsMinor } = taken.get(money.currency) ?? { amountMinor: 0, goodsMinor: 0 };
    taken.set(money.currency, {
      amountMinor: amountMinor + minor,
      goodsMinor: goodsMinor + (goods ?? 0),
    });
  };
  for (const { refunded, dispute, split } of all) {
    if (refunded) {
      give(refunded);
      const goods = goodsOf(refunded, sale);
      take(refunded, goods === undefined ? refunded.minor : 0, goods);
    }
    if (split) {
      const goods = goodsOf(split, sale);
      if (goods !== undefined) take(split, -split.minor, goods);
    }
    if (dispute?.state !== 'taken') continue;
    give(dispute);
    take(dispute, dispute.minor, undefined);
  }
  let isUnconverted = false;
  const sumOf = (amounts: readonly Money[]): number =>
    amounts.reduce((sum, money) => {
      const converted = money.minor === 0 ? 0 : convertedBy(pairs, money, sale.currency);
      if (converted === null) isUnconverted = true;
      return sum + (converted ?? 0);
    }, 0);
  const givenMinor = sumOf([...given].map(([currency, minor]) => ({ minor, currency })));
  const takenMinor = sumOf([...taken].map(([currency, one]) => ({ minor: takenBack(one, sale), currency })));
  // Where all was given back, nothing of the goods is left.
  const isAll = givenMinor >= sale.amountMinor;
  return {
    refundedMinor: isAll ? sale.amountMinor : Math.max(0, Math.min(takenMinor, sale.amountMinor)),
    givenMinor: Math.min(givenMinor, sale.amountMinor),
    isUnconverted,
  };
}

/** Converts an amount by a pair of amounts that are worth the same; null: no pair has both currencies. */
function convertedBy(
  pairs: readonly (readonly [Money, Money])[],
  money: Money,
  currency: string,
): number | null {
  if (money.currency === currency) return money.minor;
  const both = pairs.flatMap(([one, other]) => [
    { from: one, to: other },
    { from: other, to: one },
  ]);
  const pair = both.find(
    ({ from, to }) => from.currency === money.currency && to.currency === currency && from.minor > 0,
  );
  if (!pair) return null;
  return Number(halfEven(BigInt(money.minor) * BigInt(pair.to.minor), BigInt(pair.from.minor)));
}

/** Whether a discount is named by what looks like an id of the provider. People may type such a code too. */
export const isCodeId = (provider: Provider, code: string): boolean =>
  providerWords(provider).codeId?.test(code) ?? false;

/** The order id of a payment: a report by hand with this id is of the same order. */
export const orderIdOf = (provider: Provider, ref: string): string => `${provider}:${ref}`;

/** Reads an order id of a provider's payment; null for any other order. */
export function paymentOfOrderId(orderId: string): { provider: Provider; ref: string } | null {
  const [name = '', ...rest] = orderId.split(':');
  const provider = PROVIDERS.find((one) => one === name);
  const ref = rest.join(':');
  return provider && ref !== '' ? { provider, ref } : null;
}

/** The ids of who pays, as ties are stored by them. */
export function payersOf({ customer, account = null, subscription }: Payer): string[] {
  return Object.entries({ customer, account, subscription }).flatMap(([name, id]) =>
    id === null ? [] : [`${name}:${id}`],
  );
}

/** Returns the provider that gives customers ids of this form; null: it may be any other id. */
export const providerOfCustomer = (id: string): Provider | null =>
  PROVIDERS.find((provider) => providerWords(provider).customerId?.test(id)) ?? null;

/** The user id of a buyer who has none: a customer of the provider, else the payment itself. */
export const providerUserOf = (provider: Provider, customer: string | null, ref: string): string =>
  `${provider}:${customer ?? ref}`;
