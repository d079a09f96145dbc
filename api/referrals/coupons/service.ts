import type { Discount } from '../../../core/connections/promotion-codes.ts';
import { AppError, badRequest } from '../../../core/errors.ts';
import { checkAll } from '../../../core/faults.ts';
import { isCurrency } from '../../../core/money/money.ts';
import { isVisible } from '../../../core/text/visible.ts';
import { connectionById, connectionWithKey } from '../../../sql/connections/connections.ts';
import { requestPromotionCode } from '../../../sql/connections/promotion-codes.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import {
  type CouponFilter,
  insertCoupon,
  type ListedCoupon,
  listCoupons,
} from '../../../sql/referrals/coupons.ts';
import { referrerInProgram } from '../enrollments/referrer-in-program.ts';
import { readMoney } from '../programs/settings.ts';
import type { CouponBody, CouponRecord, PromotionCodeInput } from './schemas.ts';

export const noSuchCoupon = () => new AppError('not_found', 'the workspace has no such coupon');

/** A filter that every coupon passes. */
export const ANY: Omit<CouponFilter, 'limit'> = {
  id: null,
  code: null,
  externalUserId: null,
  enrollmentId: null,
  programId: null,
  before: null,
};

/** Source, Stripe's promotion codes: https://docs.stripe.com/api/promotion_codes/create#create_promotion_code-code */
const STRIPE_CODE = /^[A-Za-z0-9-]+$/;

/** Returns a coupon as the API shows it. @throws {AppError} `not_found` */
export async function couponOf(tx: Queryable, workspaceId: string, id: string): Promise<CouponRecord> {
  const [coupon] = await listCoupons(tx, workspaceId, { ...ANY, id, limit: 1 });
  if (!coupon) throw noSuchCoupon();
  return couponRecord(coupon);
}

export function couponRecord({ enrollment_id, promotion_code: made, ...coupon }: ListedCoupon): CouponRecord {
  return { ...coupon, partner_id: enrollment_id, promotion_code: made && shownPromotionCode(made) };
}

function shownPromotionCode({
  discount,
  status,
  ...made
}: NonNullable<ListedCoupon['promotion_code']>): NonNullable<CouponRecord['promotion_code']> {
  if (status === 'ending' || status === 'ended') throw new Error('the promotion code of a coupon has ended');
  return { ...made, status, ...discount };
}

/**
 * Creates a coupon for a referrer, and requests its promotion code if the body asks for one. @returns the coupon's id
 */
export async function createCoupon(
  tx: Queryable,
  workspaceId: string,
  body: CouponBody,
  now: Date,
): Promise<string> {
  checkCoupon(body);
  const code = body.code.trim();
  const { id: enrollmentId } = await referrerInProgram(tx, workspaceId, body);
  const id = await insertCoupon(tx, { workspaceId, enrollmentId, code, now });
  if (id === null) throw new AppError('conflict', `a referrer of the workspace has the code ${code}`);
  if (body.promotion_code)
    await makePromotionCode(
      tx,
      workspaceId,
      { id, code },
      { body: body.promotion_code, path: 'promotion_code', now },
    );
  return id;
}

/**
 * Checks a create body.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkCoupon({ code, promotion_code: made }: Partial<CouponBody>): void {
  checkAll([
    () => {
      if (code === undefined) return;
      if (!isVisible(code)) throw badRequest('code', 'must not be blank');
      if (made) requireStripeCode(code.trim());
    },
    () => made && checkDiscount(made, 'promotion_code'),
  ]);
}

/**
 * Checks the terms of a promotion code.
 *
 * @param path of the body's fields in the request
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkDiscount(body: PromotionCodeInput, path = ''): void {
  readDiscount(body, placeOf(path));
}

/** Returns how a field is named in the request. */
const placeOf = (path: string) => (field: string) => [path, field].filter((part) => part !== '').join('.');

function requireStripeCode(code: string): void {
  if (STRIPE_CODE.test(code)) return;
  throw badRequest(
    'code',
    'must contain only letters, digits, and hyphens: Stripe accepts no other promotion codes',
  );
}

/**
 * Requests the promotion code of a coupon in Stripe.
 *
 * @param given.path of the body's fields in the request
 * @throws {AppError} `bad_request` for terms that contradict each other, or when no connection can create it;
 * `conflict` when it exists, or is being created
 */
export async function makePromotionCode(
  tx: Queryable,
  workspaceId: string,
  { id, code }: { id: string; code: string },
  { body, path, now }: { body: PromotionCodeInput; path: string; now: Date },
): Promise<void> {
  const at = placeOf(path);
  requireStripeCode(code);
  const discount = readDiscount(body, at);
  const { connection_id: named } = body;
  const connection = named
    ? await connectionById(tx, workspaceId, named)
    : await connectionWithKey(tx, workspaceId, 'stripe');
  if (named && !connection) throw badRequest(at('connection_id'), 'must be a connection of the workspace');
  if (connection?.provider !== 'stripe' || connection.restricted_key === null)
    throw badRequest(at('connection_id'), 'must be a Stripe connection that has a restricted key');
  const given = { workspaceId, couponId: id, connectionId: connection.id, discount, now };
  if (!(await requestPromotionCode(tx, given)))
    throw new AppError('conflict', `the promotion code ${code} exists, or is being created`);
}

function readDiscount(
  {
    percent_off: percent,
    amount_off: amount,
    currency,
    duration = 'once',
    duration_in_months: months,
  }: PromotionCodeInput,
  at: (field: string) => string,
): Discount {
  checkAll([
    () => {
      if ((percent === undefined) === (amount === undefined))
        throw badRequest(at('percent_off'), 'is required, or `amount_off` instead; send exactly one of them');
    },
    () => {
      if ((amount === undefined) !== (currency === undefined))
        throw badRequest(at('currency'), 'is required with `amount_off`, and allowed only with it');
      if (currency !== undefined && !isCurrency(currency))
        throw badRequest(at('currency'), 'must be an ISO 4217 code');
      if (amount !== undefined && currency !== undefined) requireAmount(at('amount_off'), amount, currency);
    },
    () => {
      const needsMonths = duration === 'repeating';
      if (needsMonths !== (months !== undefined))
        throw badRequest(
          at('duration_in_months'),
          'is required with `duration` `repeating`, and allowed only with it',
        );
    },
  ]);
  return {
    percent_off: percent ?? null,
    amount_off: amount ?? null,
    currency: currency?.toLowerCase() ?? null,
    duration,
    duration_in_months: months ?? null,
  };
}

function requireAmount(path: string, amount: number, currency: string): void {
  if (readMoney(path, amount, currency.toLowerCase()) > 0) return;
  throw badRequest(path, `must be greater than 0 ${currency}`);
}
