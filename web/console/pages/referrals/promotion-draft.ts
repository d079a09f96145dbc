import { typedNumber } from '../../parts/typed-number.ts';
import type { Connection, Connections } from '../connections/responses.ts';
import type { Coupon } from './responses.ts';

export type PromotionCode = NonNullable<Coupon['promotion_code']>;

/** What the form of a promotion code holds. */
export type PromotionDraft = {
  connectionId: string;
  kind: 'percent' | 'amount';
  /** Percent off or amount off, as typed. */
  value: string;
  currency: string;
  duration: PromotionCode['duration'];
  /** As typed. */
  months: string;
};

/** Returns the connections that can make promotion codes, live mode first. */
export const makersOf = (data: Connections | undefined): Connection[] =>
  (data?.connections ?? [])
    .filter(({ provider, restricted_key_set: hasKey }) => provider === 'stripe' && hasKey)
    .sort((one, other) => Number(other.settings.mode === 'live') - Number(one.settings.mode === 'live'));

/** @param made the terms of an attempt that failed; null: none */
export function promotionDraftOf(made: PromotionCode | null, makers: readonly Connection[]): PromotionDraft {
  const known = makers.find(({ id }) => id === made?.connection_id) ?? makers[0];
  return {
    connectionId: known?.id ?? '',
    kind: made?.amount_off != null ? 'amount' : 'percent',
    value: String(made?.amount_off ?? made?.percent_off ?? 10),
    currency: made?.currency ?? 'usd',
    duration: made?.duration ?? 'once',
    months: String(made?.duration_in_months ?? 12),
  };
}

/** Returns the body of the request for a promotion code. */
export function promotionBody(draft: PromotionDraft): Record<string, unknown> {
  const { kind, value, duration, months } = draft;
  return {
    connection_id: draft.connectionId,
    ...(kind === 'percent'
      ? { percent_off: typedNumber(value) }
      : { amount_off: typedNumber(value), currency: draft.currency.trim().toLowerCase() }),
    duration,
    ...(duration === 'repeating' && { duration_in_months: typedNumber(months) }),
  };
}
