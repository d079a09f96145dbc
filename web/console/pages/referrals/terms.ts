import { methodName } from '../../../../core/referrals/payout-method-names.ts';
import { formatCount, formatExact, formatMoney, plural } from '../../formats.ts';
import type { Program } from './responses.ts';

/** The terms of a program, one sentence each. */
export function termsOf(program: Program): string[] {
  return [
    ...(program.credit_enabled ? creditTerms(program) : []),
    ...commissionTerms(program),
    payoutTerm(program),
  ];
}

function creditTerms(program: Program): string[] {
  const { signup_credit: signup, purchase_credit, referee_credit, credit_kind: kind } = program;
  const terms: string[] = [];
  if (signup.free > 0 || signup.paid > 0) {
    const paid = signup.paid === signup.free ? '' : `, ${formatCount(signup.paid)} on a paid plan`;
    terms.push(`${formatCount(signup.free)} ${kind} for a signup${paid}`);
  }
  if (purchase_credit > 0) {
    const which = program.first_sale_only ? 'the first purchase' : 'each purchase';
    terms.push(`${formatCount(purchase_credit)} ${kind} for ${which}`);
  }
  if (referee_credit > 0) terms.push(`${formatCount(referee_credit)} ${kind} for the new user`);
  return terms.length > 0 ? terms : ['Credits are on, but every credit is 0'];
}

function commissionTerms(program: Program): string[] {
  const { commission_rate: rate, levels, commission_months: months, hold_days: days } = program;
  if (program.credit_enabled && !program.allow_affiliate_upgrade) return [];
  if (rate === 0 && levels.length === 0) return ['No commission'];
  const shown = (value: number) =>
    program.commission_type === 'percent' ? `${formatExact(value)}%` : formatMoney(value, program.currency);
  const whose = program.credit_enabled ? ' for affiliates' : '';
  const which = program.first_sale_only ? 'of the first sale' : 'of each sale';
  const long = months === null ? '' : `, for ${plural(months, 'month', 'months')}`;
  return [
    `${shown(rate)} ${which}${long}${whose}`,
    ...(levels.length > 0 ? [`${levels.map(shown).join(', ')} for the levels above`] : []),
    days === 0 ? 'Ready to pay at once' : `On hold for ${plural(days, 'day', 'days')}`,
  ];
}

const EITHER = new Intl.ListFormat('en', { type: 'disjunction' });

function payoutTerm({ payout_methods: methods, min_payout, currency }: Program): string {
  const how = methods.length === 0 ? 'no method' : EITHER.format(methods.map(methodName));
  return `Paid by ${how}${min_payout > 0 ? ` from ${formatMoney(min_payout, currency)}` : ''}`;
}
