import { formatCount, formatExact, formatMoney, plural } from '../../formats.ts';
import type { Programme } from './answers.ts';
import { methodName } from './words.ts';

/** What a programme promises, a sentence each. */
export function termsOf(programme: Programme): string[] {
  return [
    ...(programme.credit_enabled ? creditTerms(programme) : []),
    ...commissionTerms(programme),
    payoutTerm(programme),
  ];
}

function creditTerms(programme: Programme): string[] {
  const { signup_credit: signup, purchase_credit, referee_credit, credit_kind: kind } = programme;
  const terms: string[] = [];
  if (signup.free > 0 || signup.paid > 0) {
    const paid = signup.paid === signup.free ? '' : `, ${formatCount(signup.paid)} on a paid plan`;
    terms.push(`${formatCount(signup.free)} ${kind} for a signup${paid}`);
  }
  if (purchase_credit > 0) {
    const which = programme.first_sale_only ? 'the first purchase' : 'each purchase';
    terms.push(`${formatCount(purchase_credit)} ${kind} for ${which}`);
  }
  if (referee_credit > 0) terms.push(`${formatCount(referee_credit)} ${kind} for the new user`);
  return terms.length > 0 ? terms : ['Credits are on, and every credit is 0'];
}

function commissionTerms(programme: Programme): string[] {
  const { commission_rate: rate, levels, commission_months: months, hold_days: days } = programme;
  if (programme.credit_enabled && !programme.allow_affiliate_upgrade) return [];
  if (rate === 0 && levels.length === 0) return ['No commission'];
  const shown = (value: number) =>
    programme.commission_type === 'percent'
      ? `${formatExact(value)} %`
      : formatMoney(value, programme.currency);
  const whose = programme.credit_enabled ? ' for affiliates' : '';
  const which = programme.first_sale_only ? 'of the first sale' : 'of each sale';
  const long = months === null ? '' : `, for ${plural(months, 'month', 'months')}`;
  return [
    `${shown(rate)} ${which}${long}${whose}`,
    ...(levels.length > 0 ? [`${levels.map(shown).join(', ')} for the levels above`] : []),
    days === 0 ? 'Ready to pay at once' : `On hold for ${plural(days, 'day', 'days')}`,
  ];
}

function payoutTerm({ payout_methods: methods, min_payout, currency }: Programme): string {
  const how = methods.length === 0 ? 'no method' : methods.map(methodName).join(', ');
  return `Paid by ${how}${min_payout > 0 ? ` from ${formatMoney(min_payout, currency)}` : ''}`;
}
