import { toMajor } from '../../core/money/money.ts';
import { toCredits } from '../../core/referrals/credits.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Program } from '../../sql/referrals/programs.ts';
import type { Writing } from './html.ts';

/** Returns what a program pays to an affiliate, as names with values in HTML. */
export function termsFacts(
  { terms, min_payout_minor, allow_affiliate_upgrade: mayEarn }: Program,
  { words, money, percent, number }: Writing,
): [name: string, value: string][] {
  const facts: [string, string][] = [];
  const credits = (hundredths: number) => `${number(toCredits(hundredths))} ${terms.creditKind}`;
  if (terms.creditEnabled) {
    if (terms.signupCredit.free > 0) facts.push([words('credits_signup'), credits(terms.signupCredit.free)]);
    if (terms.purchaseCredit > 0) facts.push([words('credits_purchase'), credits(terms.purchaseCredit)]);
  }
  if (terms.commissionRate > 0 && (!terms.creditEnabled || mayEarn)) {
    facts.push(
      [
        words('commission'),
        terms.commissionType === 'percent'
          ? words('per_sale', { amount: percent(terms.commissionRate / 100) })
          : words('flat_per_sale', { amount: money(terms.commissionRate, terms.currency) }),
      ],
      [words('first_sales'), countedSales(terms, words)],
      [
        words('payable'),
        terms.holdDays === 0 ? words('payable_at_once') : words('payable_after', { count: terms.holdDays }),
      ],
    );
    if (min_payout_minor > 0)
      facts.push([words('least_payout'), money(toMajor(min_payout_minor, terms.currency), terms.currency)]);
  }
  return facts.map(([name, value]) => [name, escapeHtml(value)]);
}

function countedSales(
  { firstSaleOnly, commissionMonths }: Program['terms'],
  words: Writing['words'],
): string {
  if (firstSaleOnly) return words('only_first_sale');
  return commissionMonths === null
    ? words('all_sales')
    : words('sales_of_months', { count: commissionMonths });
}
