import { clicksOnLinks } from '../../../clickhouse/queries/clicks-on-links.ts';
import { AppError } from '../../../core/errors.ts';
import { shortUrlOf } from '../../../core/links/short-urls.ts';
import { exponentOf, toMajor } from '../../../core/money/money.ts';
import type { ListedEnrollment } from '../../../sql/referrals/enrollment-list.ts';
import type { Enrollment } from '../../../sql/referrals/enrollments.ts';
import type { Balance } from '../../../sql/referrals/ledger.ts';
import { balancesOfUsers } from '../../../sql/referrals/ledger-list.ts';
import type { ApiDeps } from '../../dependencies.ts';
import { heldUntil, savedMethod } from '../payout-method.ts';
import { creditsOf } from '../stats.ts';
import type { EnrollmentRecord, EnrollmentWithTotals } from './schemas.ts';

export const noSuchEnrollment = () => new AppError('not_found', 'the workspace has no such enrollment');

/** Returns a referrer as the API shows one, with a masked payout address. */
export function enrollmentRecord(enrollment: Enrollment): EnrollmentRecord {
  return {
    partner_id: enrollment.id,
    program_id: enrollment.program_id,
    external_user_id: enrollment.external_user_id,
    email: enrollment.email,
    name: enrollment.name,
    tier: enrollment.tier,
    status: enrollment.status,
    reward_mode: enrollment.reward_mode,
    payout_method: savedMethod(enrollment),
    payout_name: enrollment.payout_name,
    payout_held_until: heldUntil(enrollment, new Date()),
    commission_type: enrollment.commission_type,
    commission_rate: enrollment.commission_rate,
    group_id: enrollment.group_id,
    created_at: enrollment.created_at.toISOString(),
    updated_at: enrollment.updated_at.toISOString(),
  };
}

/** Returns referrers with their figures and balances: one query to each database for all. */
export async function withTotals(
  { pool, clickhouse, config }: Pick<ApiDeps, 'pool' | 'clickhouse' | 'config'>,
  workspaceId: string,
  listed: readonly ListedEnrollment[],
): Promise<EnrollmentWithTotals[]> {
  const [clicks, balances] = await Promise.all([
    clicksOnLinks(clickhouse, {
      workspaceId,
      linkIds: listed.flatMap(({ link_ids }) => link_ids),
      now: new Date(),
    }),
    balancesOfUsers(
      pool,
      workspaceId,
      listed.map(({ external_user_id }) => external_user_id),
    ),
  ]);
  return listed.map((enrollment) => {
    const owed = balances.get(enrollment.external_user_id) ?? [];
    const clicked = enrollment.link_ids.reduce((sum, id) => sum + (clicks.get(id) ?? 0), 0);
    const cash = cashOf(owed);
    const earned = mapAmounts(cash, ({ pending, eligible, paid }) => pending + eligible + paid);
    return {
      ...enrollmentRecord(enrollment),
      referral_link: enrollment.address && shortUrlOf(config.shortUrl, enrollment.address),
      totals: {
        clicks: clicked,
        signups: enrollment.signups,
        blocked_signups: enrollment.blocked_signups,
        purchases: enrollment.purchases,
        buyers: enrollment.buyers,
        revenue: mapAmounts(enrollment.revenue_minor, toMajor),
        epc: clicked === 0 ? {} : mapAmounts(earned, (amount, currency) => share(amount, clicked, currency)),
        average_lifetime_value: mapAmounts(enrollment.revenue_minor, (minor, currency) =>
          share(toMajor(minor, currency), enrollment.buyers, currency),
        ),
      },
      balances: { cash, credits: creditsOf(owed) },
    };
  });
}

/** Digits of an average beyond those of its currency: an earning per click is often below the smallest coin. */
const MORE_DIGITS = 2;

/** Returns an amount by a count, rounded. */
const share = (amount: number, count: number, currency: string): number =>
  Number((amount / count).toFixed(exponentOf(currency) + MORE_DIGITS));

/** Returns what a function makes of each amount by currency. */
const mapAmounts = <Amount>(
  amounts: Record<string, Amount>,
  of: (amount: Amount, currency: string) => number,
): Record<string, number> =>
  Object.fromEntries(Object.entries(amounts).map(([currency, amount]) => [currency, of(amount, currency)]));

function cashOf(balances: readonly Balance[]): EnrollmentWithTotals['balances']['cash'] {
  const cash: EnrollmentWithTotals['balances']['cash'] = {};
  for (const { account, unit, amount } of balances) {
    if (account !== 'cash_pending' && account !== 'cash_eligible' && account !== 'cash_paid') continue;
    cash[unit] ??= { pending: 0, eligible: 0, paid: 0 };
    const status = { cash_pending: 'pending', cash_eligible: 'eligible', cash_paid: 'paid' } as const;
    cash[unit][status[account]] = toMajor(amount, unit);
  }
  return cash;
}
