import { badRequest } from '../../core/errors.ts';
import { checkAll, readAll } from '../../core/faults.ts';
import { NANOS_PER_MILLI, requireInstant } from '../../core/time/timestamps.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { checkSaleAmounts, readSaleAmounts } from '../../core/tracking/track-reports.ts';
import type { Purchase } from '../../sql/referrals/purchases.ts';
import type { Refund } from '../../sql/referrals/refunds.ts';
import type { PurchaseReport } from '../../sql/transactions/record-purchase.ts';
import { requireEmail } from './enroll.ts';
import type { PurchaseBody } from './schemas.ts';

/**
 * Validates a purchase and returns it as recorded.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function readPurchase(body: PurchaseBody, now: Date): PurchaseReport {
  const email = body.email ?? null;
  const { amounts, purchasedAt } = readAll({
    email: () => requireEmail('email', email),
    amounts: () => readSaleAmounts(body),
    purchasedAt: () => (body.purchased_at ? readPurchasedAt(body.purchased_at, now) : now),
  });
  return {
    orderId: body.order_id,
    externalUserId: body.external_user_id,
    email: email === null ? null : normalizeEmail(email),
    ...amounts,
    isRenewal: body.is_renewal ?? false,
    purchasedAt,
  };
}

/**
 * Checks the fields of a purchase that its schema accepted.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkPurchase(body: Partial<PurchaseBody>, faulty: ReadonlySet<string>): void {
  checkAll([
    () => requireEmail('email', body.email ?? null),
    () => checkSaleAmounts(body, faulty),
    () => body.purchased_at && readPurchasedAt(body.purchased_at, new Date()),
  ]);
}

/** Tolerance for clocks of servers and time zones. Milliseconds. */
const MOST_AHEAD = 86_400_000;

function readPurchasedAt(text: string, now: Date): Date {
  const nanos = requireInstant('purchased_at', text);
  if (nanos < 0n) throw badRequest('purchased_at', 'must be in the year 1970 or later');
  if (nanos > BigInt(now.getTime() + MOST_AHEAD) * NANOS_PER_MILLI)
    throw badRequest('purchased_at', 'must be at most a day ahead');
  return new Date(Number(nanos / NANOS_PER_MILLI));
}

/** Returns the response to a purchase report, the same at each replay. */
export function purchaseAnswer(purchase: Purchase) {
  return {
    matched: purchase.enrollment_id !== null,
    rewarded: purchase.rewarded,
    internal_order_id: purchase.order_internal_id,
    ledger_rows: purchase.ledger_rows,
    ...(purchase.reason !== null && { reason: purchase.reason }),
    ...(purchase.held && { status: 'held' as const }),
  };
}

/** Returns the response to a refund report. Null: no server has reported the order. */
export function refundAnswer(refund: Refund | null) {
  return {
    matched: refund?.matched ?? false,
    internal_order_id: refund?.order_internal_id ?? null,
    ledger_rows: refund?.ledger_rows ?? 0,
  };
}
