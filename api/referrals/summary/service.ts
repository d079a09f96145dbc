import { clicksByReferralLink } from '../../../clickhouse/queries/referral-link-clicks.ts';
import { exponentOf, toMajor } from '../../../core/money/money.ts';
import { toCredits } from '../../../core/referrals/credits.ts';
import { NANOS_PER_MILLI } from '../../../core/time/timestamps.ts';
import type { Account, Balance } from '../../../sql/referrals/ledger.ts';
import { balancesOfUsers, sumEntries } from '../../../sql/referrals/ledger-list.ts';
import { openDecisions } from '../../../sql/referrals/open-decisions.ts';
import {
  type ProgramActivity,
  programActivity,
  topReferrers,
} from '../../../sql/referrals/program-activity.ts';
import { type RateOf, readRates } from '../../../sql/workspaces/currency-rates.ts';
import type { Workspace } from '../../../sql/workspaces/workspaces.ts';
import type { ApiDeps } from '../../dependencies.ts';
import type { Summary } from './schemas.ts';

const DAY_MS = 86_400_000;
const TOP = 5;
const OWED: Account[] = ['cash_pending', 'cash_eligible', 'credit_earned'];

/**
 * Returns the figures of all referrers, the best referrers, and the tasks that wait for a person. The window is that of
 * the stats of one referrer: whole UTC days up to now. The compared window has the same length, and ends as many days
 * before.
 */
export async function referralSummary(
  { pool, clickhouse }: Pick<ApiDeps, 'pool' | 'clickhouse'>,
  workspace: Workspace,
  { days, programId }: { days: number; programId: string | null },
  now: Date,
): Promise<Summary> {
  const workspaceId = workspace.id;
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const window = { from: new Date(midnight - (days - 1) * DAY_MS), to: now };
  const before = {
    from: new Date(window.from.getTime() - days * DAY_MS),
    to: new Date(now.getTime() - days * DAY_MS),
  };
  const scopeOf = ({ from, to }: typeof window) => ({ workspaceId, programId, from, to });
  const clicksIn = ({ from, to }: typeof window) =>
    clicksByReferralLink(clickhouse, { workspaceId, span: { from: nanosOf(from), to: nanosOf(to) } });

  const [clicks, clicksBefore, owed, decisions, rates] = await Promise.all([
    clicksIn(window),
    clicksIn(before),
    sumEntries(pool, workspaceId, { ...ANY_ENTRY, programId, accounts: OWED }),
    openDecisions(pool, { workspaceId, programId, from: window.from, now }),
    readRates(pool),
  ]);
  const [activity, activityBefore] = await Promise.all([
    programActivity(pool, scopeOf(window), clicks),
    programActivity(pool, scopeOf(before), clicksBefore),
  ]);
  const top = await topReferrers(pool, scopeOf(window), clicks, {
    values: minorValues(activity, workspace.currency, rates),
    limit: TOP,
  });
  const balances = await balancesOfUsers(
    pool,
    workspaceId,
    top.map(({ external_user_id }) => external_user_id),
  );
  return {
    window: { from: window.from.toISOString(), to: now.toISOString(), days },
    compared_window: { from: before.from.toISOString(), to: before.to.toISOString() },
    totals: figuresOf(activity),
    compared_totals: figuresOf(activityBefore),
    owed: {
      pending: cashOf(owed, ['cash_pending']),
      eligible: cashOf(owed, ['cash_eligible']),
      credits: Object.fromEntries(
        owed.flatMap(({ account, unit, amount }) =>
          account === 'credit_earned' && amount !== 0 ? [[unit, toCredits(amount)]] : [],
        ),
      ),
    },
    top_referrers: top.map((referrer) => ({
      partner_id: referrer.enrollment_id,
      program_id: referrer.program_id,
      external_user_id: referrer.external_user_id,
      name: referrer.name,
      ...figuresOf(referrer),
      owed: cashOf(balances.get(referrer.external_user_id) ?? [], ['cash_pending', 'cash_eligible']),
    })),
    decisions,
  };
}

const ANY_ENTRY = {
  enrollmentId: null,
  externalUserId: null,
  unit: null,
  cause: null,
  orderId: null,
  from: null,
  to: null,
};

const nanosOf = (date: Date) => BigInt(date.getTime()) * NANOS_PER_MILLI;

const figuresOf = ({ clicks, signups, buyers, purchases, revenue }: ProgramActivity) => ({
  clicks,
  signups,
  buyers,
  purchases,
  revenue: Object.fromEntries(
    revenue.map(({ currency, amount_minor }) => [currency, toMajor(amount_minor, currency)]),
  ),
});

/** Returns the sums of these accounts in major units by currency, without zeros. */
function cashOf(balances: readonly Balance[], accounts: readonly Account[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const { account, unit, amount } of balances) {
    if (accounts.includes(account)) sums.set(unit, (sums.get(unit) ?? 0) + amount);
  }
  return Object.fromEntries(
    [...sums].flatMap(([currency, minor]) => (minor === 0 ? [] : [[currency, toMajor(minor, currency)]])),
  );
}

/**
 * Returns the value of a minor unit of each currency in the workspace's currency, for ranking. Currencies without a
 * rate are left out.
 */
function minorValues({ revenue }: ProgramActivity, base: string, rateOf: RateOf): Map<string, number> {
  return new Map(
    revenue.flatMap(({ currency }) => {
      const rate = rateOf(currency, base);
      return rate === null ? [] : [[currency, rate / 10 ** exponentOf(currency)] as const];
    }),
  );
}
