import { halfEven } from '../money/money.ts';

/**
 * Returns how much of a commission a refund reverses. It is rounded once, half to even, on all that has been refunded.
 * So partial refunds reverse exactly what one refund of their sum would, and a full one reverses all.
 *
 * @param commissionMinor the earned amount
 * @param orderMinor total of the order, in its own currency; 0: nothing of it is left
 * @param refundedMinor all that has been refunded of the order, this refund included
 * @param takenMinor what earlier refunds reversed of this commission
 */
export function reversedAmount(
  commissionMinor: number,
  orderMinor: number,
  refundedMinor: number,
  takenMinor: number,
): number {
  if (orderMinor === 0) return commissionMinor - takenMinor;
  const whole = halfEven(BigInt(commissionMinor) * BigInt(refundedMinor), BigInt(orderMinor));
  return Number(whole) - takenMinor;
}
