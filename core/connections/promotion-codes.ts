/** How long a discount lasts on a subscription. */
export const DISCOUNT_DURATIONS = ['once', 'repeating', 'forever'] as const;

/** What customers get for a code: a share, or an amount of a currency. */
export type Discount = {
  /** More than 0, at most 100. */
  percent_off: number | null;
  /** Major units of `currency`. */
  amount_off: number | null;
  currency: string | null;
  duration: (typeof DISCOUNT_DURATIONS)[number];
  /** Only with the duration `repeating`. */
  duration_in_months: number | null;
};

export type WantedPromotionCode = {
  /** Our id. The provider stores it with its objects, which are found by it. */
  id: string;
  /** The coupon of the referrer. */
  couponId: string;
  code: string;
  discount: Discount;
  /** Attempts whose response was an error: a provider may repeat such a response under its idempotency key. */
  refusals: number;
};

export type ProviderApi = { key: string; apiBase: string };

/** Makes and ends discount codes at a provider. Every call may be repeated, and has one effect. */
export type PromotionCodes = {
  /** @returns the provider's id of the code @throws {PromotionProblem} */
  put(wanted: WantedPromotionCode, api: ProviderApi): Promise<string>;
  /** Ends a code for new payments. @param reference the provider's id; null: unknown @throws {PromotionProblem} */
  end(wanted: WantedPromotionCode, reference: string | null, api: ProviderApi): Promise<void>;
};

/** An attempt that failed. */
export class PromotionProblem extends Error {
  /** The provider refused. When false, no response came, and the provider may have done the work. */
  readonly isRefused: boolean;
  /** Another attempt would fail too. */
  readonly isFinal: boolean;

  constructor(message: string, { isRefused, isFinal }: { isRefused: boolean; isFinal: boolean }) {
    super(message);
    this.name = 'PromotionProblem';
    this.isRefused = isRefused;
    this.isFinal = isFinal;
  }
}
