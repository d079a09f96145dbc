import { formatAmount, formatMoney, formatPercent, formatSpan, kindName } from './formats.ts';
import type { Stats } from './stats.ts';
import { locale, words } from './words.ts';

/** `You earn 20% of each payment of a customer for 12 months. Eligible for payout after 30 days.` */
export function commissionWords({ commission }: Stats['terms'], currency: string): string | null {
  if (commission === null) return null;
  const { type, rate, first_sale_only: isOnce, months, hold_days: days } = commission;
  const kind = type === 'percent' ? 'percent' : 'flat';
  const share = kind === 'percent' ? formatPercent(rate) : formatMoney(rate, currency);
  const sentences = [
    isOnce
      ? words(`earn_${kind}_first`, { share })
      : months === null
        ? words(`earn_${kind}_each`, { share })
        : words(`earn_${kind}_long`, { share, months: formatSpan(months, 'month') }),
    ...(days === 0 ? [] : [words('eligible_after', { days: formatSpan(days, 'day') })]),
  ];
  return sentences.join(' ');
}

/** `You earn 5 credits for a signup.` */
export function creditWords({ credits }: Stats['terms']): string | null {
  if (credits === null) return null;
  const reward = (amount: number) => `${formatAmount(amount)} ${inSentence(kindName(credits.kind))}`;
  const [signup, purchase] = [reward(credits.signup), reward(credits.purchase)];
  if (credits.signup > 0 && credits.purchase > 0) return words('earn_both', { signup, purchase });
  if (credits.signup > 0) return words('earn_signup', { reward: signup });
  return credits.purchase > 0 ? words('earn_purchase', { reward: purchase }) : null;
}

/** German writes nouns with a capital letter anywhere. */
const inSentence = (name: string) => (locale().startsWith('de') ? name : name.toLocaleLowerCase(locale()));
