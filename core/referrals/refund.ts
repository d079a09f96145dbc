import { halfEven } from '../money/money.ts';

/**
 * How much of a commission a refund takes back. Rounded once on the whole that has been refunded, half to even, so
 * that any number of partial refunds takes back exactly what one refund of their sum would, and a full one all.
 *
 * @param commissionMinor as it was earned
 * @param orderMinor what the order was for, positive, in its own currency
 * @param refundedMinor all that has been refunded of the order, this refund included
 * @param takenMinor what earlier refunds took back of this commission
 */
export function takenBack(
  commissionMinor: number,
  orderMinor: number,
  refundedMinor: number,
  takenMinor: number,
): number {
  const whole = halfEven(BigInt(commissionMinor) * BigInt(refundedMinor), BigInt(orderMinor));
  return Number(whole) - takenMinor;
}
