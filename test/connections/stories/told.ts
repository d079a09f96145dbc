import type { Provider } from '../../../core/connections/providers.ts';
import type { Story, StoryPayment } from './model.ts';

/** A story with its names at the provider, which are new each time it is played. */
export type Told = Story & { key: number };

export const HOUR = 3_600;

/** Seconds since the epoch, so that all of a story is within its 72 hours. */
export const START = Math.floor(Date.now() / 1_000) - 60 * HOUR;
export const secondsOf = (index: number) => START + (10 + index) * HOUR;
export const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();

/** The user whom the referrer brought. */
export const userOf = ({ key }: Pick<Told, 'key'>) => `n${key}`;
export const namesOf = (told: Told) => ({ hoplog_user_id: userOf(told) });
export const emailOf = (told: Pick<Told, 'key'>, { email }: Pick<StoryPayment, 'email'>): string | null =>
  email === 'none'
    ? null
    : email === 'own'
      ? `${userOf(told)}@mail.example`
      : `other${told.key}@work.example`;
export const couponOf = ({ key }: Pick<Told, 'key'>) => `SAVES${key}`;

/** Who pays at the provider. Ids of Lemon Squeezy and Shopify are numbers. */
export function payerOf({ provider, isAccount, key }: Told): {
  customer: string | null;
  account: string | null;
} {
  if (isAccount) return { customer: null, account: `acct_${key}` };
  const customers: Record<Provider, string> = {
    stripe: `cus_${key}`,
    paddle: `ctm_${key}`,
    lemonsqueezy: String(7_000 + key),
    polar: `polar-customer-${key}`,
    shopify: String(115_310_627_314_000_000n + BigInt(key)),
  };
  return { customer: customers[provider], account: null };
}

/** Number of a payment in all stories. */
export const numberOf = ({ key }: Told, index: number) => 1_000 + key * 10 + index;

/** Order id of a payment. */
export function orderOf(told: Told, index: number): string {
  const { provider, payments, key } = told;
  const isAlone = payments[index]?.joined === 'never';
  const ids: Record<Provider, string> = {
    stripe: `${isAlone ? 'in' : 'pi'}_${key}_${index}`,
    paddle: `txn_${key}_${index}`,
    lemonsqueezy: index === 0 ? String(numberOf(told, 0)) : `invoice_${numberOf(told, index)}`,
    polar: `order-${key}-${index}`,
    shopify: String(numberOf(told, index)),
  };
  return `${provider}:${ids[provider]}`;
}

/** A change of what was refunded of a payment: how much more, or that the last one failed. */
type Refund = { nth: number; at: number; added: number; sum: number; failed: number | null };

export function refundsOf({ refunds }: StoryPayment, paidAt: number): Refund[] {
  let [sum, last, of] = [0, 0, 0];
  return refunds.map((state, nth) => {
    const at = paidAt + 100 + nth * 10;
    if (state === 'failed') {
      const failed = last;
      sum -= last;
      last = 0;
      return { nth: of, at, added: 0, sum, failed };
    }
    [last, sum, of] = [state - sum, state, nth];
    return { nth, at, added: last, sum, failed: null };
  });
}
