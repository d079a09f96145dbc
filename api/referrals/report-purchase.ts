import { badRequest } from '../../core/errors.ts';
import { NANOS_PER_MILLI, requireInstant, STORED_MAX_NANOS } from '../../core/time/timestamps.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { readAmount } from '../../core/tracking/track-reports.ts';
import type { Purchase } from '../../sql/referrals/purchases.ts';
import type { Refund } from '../../sql/referrals/refunds.ts';
import type { PurchaseReport } from '../../sql/transactions/record-purchase.ts';
import { requireEmail } from './enroll.ts';
import type { PurchaseBody } from './schemas.ts';

/**
 * A purchase as it is recorded.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function readPurchase(body: PurchaseBody, now: Date): PurchaseReport {
  const email = body.email ?? null;
  requireEmail('email', email);
  return {
    orderId: body.order_id,
    externalUserId: body.external_user_id,
    email: email === null ? null : normalizeEmail(email),
    ...readAmount(body.amount, body.currency ?? 'usd'),
    isRenewal: body.is_renewal ?? false,
    purchasedAt: body.purchased_at ? readPurchasedAt(body.purchased_at) : now,
  };
}

function readPurchasedAt(text: string): Date {
  const nanos = requireInstant('purchased_at', text);
  if (nanos < 0n || nanos > STORED_MAX_NANOS) throw badRequest('purchased_at', 'must be from 1970 to 2262');
  return new Date(Number(nanos / NANOS_PER_MILLI));
}

/** What a report of a purchase answers, the first time and every time. */
export function purchaseAnswer(purchase: Purchase) {
  return {
    matched: purchase.enrollment_id !== null,
    rewarded: purchase.rewarded,
    internal_order_id: purchase.order_internal_id,
    ledger_rows: purchase.ledger_rows,
    ...(purchase.reason !== null && { reason: purchase.reason }),
  };
}

/** What a report of a refund answers; null: of an order that no server has reported. */
export function refundAnswer(refund: Refund | null) {
  return {
    matched: refund?.matched ?? false,
    internal_order_id: refund?.order_internal_id ?? null,
    ledger_rows: refund?.ledger_rows ?? 0,
  };
}
