import { formatAmount, formatMoney, plural } from './formats.ts';
import type { Stats } from './stats.ts';

/** `You earn 20% of each payment for 12 months, paid after 30 days.` */
export function commissionWords({ commission }: Stats['terms'], currency: string): string | null {
  if (commission === null) return null;
  const { type, rate, first_sale_only: isOnce, months, hold_days: days } = commission;
  const share = type === 'percent' ? `${formatAmount(rate)}% of` : `${formatMoney(rate, currency)} for`;
  const long = isOnce || months === null ? '' : ` for ${plural(months, 'month', 'months')}`;
  const wait = days === 0 ? '' : `, eligible after ${plural(days, 'day', 'days')}`;
  return `You earn ${share} ${isOnce ? 'the first payment' : 'each payment'} of a customer${long}${wait}.`;
}

/** `You earn 5 credits for a signup.` */
export function creditWords({ credits }: Stats['terms']): string | null {
  if (credits === null) return null;
  const { kind, signup, purchase } = credits;
  const words = kind.replaceAll(/[_-]+/g, ' ');
  const parts = [
    ...(signup > 0 ? [`${formatAmount(signup)} ${words} for a signup`] : []),
    ...(purchase > 0 ? [`${formatAmount(purchase)} ${words} for a purchase`] : []),
  ];
  return parts.length === 0 ? null : `You earn ${parts.join(', and ')}.`;
}
