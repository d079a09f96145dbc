import type Stripe from 'stripe';
import { type Discount, type PromotionCodes, PromotionProblem } from '../promotion-codes.ts';
import { openStripe } from './client.ts';
import { stripeAmount } from './stripe-amount.ts';

/** Limit of one call. Milliseconds. */
const TIMEOUT = 10_000;
/** Characters of a coupon's name at Stripe: https://docs.stripe.com/api/coupons/create#create_coupon-name */
const NAME_LIMIT = 40;
const BAD_REQUEST = 400;
const NOT_FOUND = 404;

/**
 * Promotion codes of Stripe. A code is two objects: a coupon with the terms, whose id is ours, and the promotion code
 * with the text. Stripe refuses a second coupon of one id, and a second active promotion code of one text, so a
 * repeated attempt finds what an earlier one made, also after Stripe has forgotten its idempotency key.
 *
 * Sources: https://docs.stripe.com/api/coupons/create, https://docs.stripe.com/api/promotion_codes/create
 */
export const stripePromotionCodes: PromotionCodes = {
  put: (wanted, { key, apiBase }) =>
    withProblems(async () => {
      const { code, discount, couponId, refusals } = wanted;
      const stripe = await openStripe(key, apiBase, TIMEOUT);
      const coupon = stripeCouponId(wanted.id);
      const metadata = { hoplog_coupon_id: couponId };
      const idempotencyKey = `${coupon}-${refusals}`;
      await unlessMade(
        stripe.coupons.create(
          { id: coupon, name: code.slice(0, NAME_LIMIT), metadata, ...termsOf(discount) },
          { idempotencyKey: `${idempotencyKey}-coupon` },
        ),
        () => unlessMissing(stripe.coupons.retrieve(coupon)),
      );
      const made = await unlessMade(
        stripe.promotionCodes.create(
          { promotion: { type: 'coupon', coupon }, code, metadata },
          { idempotencyKey },
        ),
        () => activeCode(stripe, coupon, code),
      );
      return made.id;
    }),
  end: (wanted, reference, { key, apiBase }) =>
    withProblems(async () => {
      const stripe = await openStripe(key, apiBase, TIMEOUT);
      const made =
        reference ?? (await activeCode(stripe, stripeCouponId(wanted.id), wanted.code))?.id ?? null;
      if (made !== null) await stripe.promotionCodes.update(made, { active: false });
    }),
};

const stripeCouponId = (id: string) => `hoplog-${id}`;

function termsOf(discount: Discount): Stripe.CouponCreateParams {
  const { percent_off, amount_off, currency, duration, duration_in_months: months } = discount;
  return {
    duration,
    ...(months !== null && { duration_in_months: months }),
    ...(percent_off !== null && { percent_off }),
    ...(amount_off !== null &&
      currency !== null && { amount_off: stripeAmount(100, amount_off, currency), currency }),
  };
}

/** Returns what a call makes; where it is refused, what an earlier attempt has made. */
async function unlessMade<T>(making: Promise<T>, find: () => Promise<T | null>): Promise<T> {
  try {
    return await making;
  } catch (error) {
    if ((error as Partial<Stripe.errors.StripeError>).statusCode !== BAD_REQUEST) throw error;
    const made = await find();
    if (made === null) throw error;
    return made;
  }
}

/** Returns what is looked up, or null. Another error says nothing about it: the next attempt looks again. */
async function unlessMissing<T>(finding: Promise<T>): Promise<T | null> {
  try {
    return await finding;
  } catch (error) {
    if ((error as Partial<Stripe.errors.StripeError>).statusCode !== NOT_FOUND) throw error;
    return null;
  }
}

/** Returns the active promotion code of a coupon, or null. The filter ignores the case of the text. */
async function activeCode(
  stripe: Stripe,
  coupon: string,
  code: string,
): Promise<Stripe.PromotionCode | null> {
  const { data } = await stripe.promotionCodes.list({ active: true, code, limit: 10 });
  return data.find(({ promotion }) => idOf(promotion.coupon) === coupon) ?? null;
}

const idOf = (object: string | { id: string } | null) =>
  object !== null && typeof object === 'object' ? object.id : object;

/** Stripe's refusals of what was asked for are final; those of the key are not, as it may be given more rights. */
async function withProblems<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { statusCode } = error as Partial<Stripe.errors.StripeError>;
    const message = error instanceof Error ? error.message : String(error);
    throw new PromotionProblem(message, {
      isRefused: statusCode !== undefined,
      isFinal: statusCode === BAD_REQUEST || statusCode === NOT_FOUND,
    });
  }
}
