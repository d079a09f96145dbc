import { methodName } from '../../../../core/referrals/payout-method-names.ts';
import { formatCount, formatExact, formatMoney, plural } from '../../formats.ts';
import type { Draft } from './program-draft.ts';

/** Price of the example, major units. */
const PRICE = 50;
/** Months of the example where commission has no limit. */
const A_YEAR = 12;
const FRIENDS = 10;

/** What a program pays, in a sentence, and an example; null while a number is missing or the currency is unknown. */
export function summaryOf(draft: Draft): { sentence: string; example: string | null } | null {
  const numbers = numbersOf(draft);
  if (numbers === null) return null;
  try {
    const rewards = [creditWords(draft, numbers), commissionWords(draft, numbers)].filter(Boolean);
    const reward = rewards.length > 0 ? rewards.join('. ') : 'Referrers earn nothing yet';
    return { sentence: `${reward}.`, example: exampleOf(draft, numbers) };
  } catch (error) {
    if (error instanceof RangeError) return null; // not a currency code
    throw error;
  }
}

type Numbers = Record<
  'rate' | 'months' | 'hold' | 'least' | 'signup_free' | 'signup_paid' | 'purchase_credit' | 'referee_credit',
  number
>;

/** Empty texts are 0. */
function numbersOf(draft: Draft): Numbers | null {
  const numbers = {
    rate: Number(draft.commission_rate),
    months: Number(draft.commission_months),
    hold: Number(draft.hold_days),
    least: Number(draft.min_payout),
    signup_free: Number(draft.signup_free),
    signup_paid: Number(draft.signup_paid),
    purchase_credit: Number(draft.purchase_credit),
    referee_credit: Number(draft.referee_credit),
  };
  return Object.values(numbers).every((value) => Number.isFinite(value) && value >= 0) ? numbers : null;
}

function commissionWords(draft: Draft, { rate, months, hold, least }: Numbers): string | null {
  if (rate === 0 || (draft.credit_enabled && !draft.allow_affiliate_upgrade)) return null;
  const who = draft.credit_enabled ? 'Affiliates' : 'Referrers';
  const share =
    draft.commission_type === 'percent'
      ? `${formatExact(rate)}% of`
      : `${formatMoney(rate, draft.currency)} for`;
  const payments = draft.first_sale_only
    ? 'the first payment'
    : `every payment${months > 0 ? ` for ${plural(months, 'month', 'months')}` : ''}`;
  const from = least > 0 ? ` from ${formatMoney(least, draft.currency)}` : '';
  const how = new Intl.ListFormat('en', { type: 'disjunction' }).format(draft.payout_methods.map(methodName));
  const by = how === '' ? '' : ` by ${how}`;
  const after = hold > 0 ? ` after ${plural(hold, 'day', 'days')}` : '';
  return `${who} earn ${share} ${payments}, paid out${from}${by}${after}`;
}

function creditWords(draft: Draft, numbers: Numbers): string | null {
  if (!draft.credit_enabled) return null;
  const credits = (count: number) => `${formatCount(count)} ${draft.credit_kind}`;
  const { signup_free: free, signup_paid: paid, purchase_credit, referee_credit } = numbers;
  const parts = [
    free > 0 && `${credits(free)} for a signup${paid === free ? '' : ` (${credits(paid)} on a paid plan)`}`,
    free === 0 && paid > 0 && `${credits(paid)} for a signup on a paid plan`,
    purchase_credit > 0 &&
      `${credits(purchase_credit)} for ${draft.first_sale_only ? 'the first' : 'each'} purchase`,
  ].filter((part) => part !== false);
  const referrers = parts.length > 0 ? `Referrers get ${new Intl.ListFormat('en').format(parts)}` : '';
  const users = referee_credit > 0 ? `new users get ${credits(referee_credit)}` : '';
  if (referrers === '') return users === '' ? null : `N${users.slice(1)}`;
  return users === '' ? referrers : `${referrers}; ${users}`;
}

function exampleOf(draft: Draft, numbers: Numbers): string | null {
  const { rate, months, signup_free, purchase_credit } = numbers;
  if (draft.credit_enabled) {
    const total = FRIENDS * (signup_free + purchase_credit);
    return total === 0
      ? null
      : `${FRIENDS} friends who sign up and buy once bring ${formatCount(total)} ${draft.credit_kind}.`;
  }
  if (rate === 0) return null;
  const payments = draft.first_sale_only ? 1 : months || A_YEAR;
  const each = draft.commission_type === 'percent' ? (PRICE * rate) / 100 : rate;
  const earned = formatMoney(each * payments, draft.currency);
  const price = formatMoney(PRICE, draft.currency);
  return draft.first_sale_only
    ? `A customer whose first payment is ${price} brings ${earned}.`
    : `A customer who pays ${price} a month for ${plural(payments, 'month', 'months')} brings ${earned}.`;
}
