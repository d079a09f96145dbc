import { clicksByDay } from '../../clickhouse/queries/referral-stats.ts';
import { type LinkAddress, shortUrlOf } from '../../core/links/short-urls.ts';
import { toMajor } from '../../core/money/money.ts';
import { toCredits } from '../../core/referrals/credits.ts';
import { programWith } from '../../core/referrals/terms.ts';
import { NANOS_PER_MILLI } from '../../core/time/timestamps.ts';
import { recentCommissions } from '../../sql/referrals/commission-list.ts';
import { codesOf } from '../../sql/referrals/coupons.ts';
import type { Enrollment } from '../../sql/referrals/enrollments.ts';
import { type Account, type Balance, balancesOf } from '../../sql/referrals/ledger.ts';
import { ownTermsOf } from '../../sql/referrals/partner-groups.ts';
import { payoutsOf } from '../../sql/referrals/payouts.ts';
import { type Program, programById } from '../../sql/referrals/programs.ts';
import { activityByDay } from '../../sql/referrals/referral-activity.ts';
import { referralLinkIds } from '../../sql/referrals/referral-links.ts';
import type { ApiDeps } from '../dependencies.ts';
import type { Enrolled } from './enroll.ts';
import { heldUntil, savedMethod } from './payout-method.ts';
import type { Stats } from './schemas.ts';

const DAY_MS = 86_400_000;
/** Number of commissions, payouts and coupons on a dashboard. */
const RECENT = 20;

/** Clicks by UTC day. */
type DailyClicks = ReadonlyMap<string, number>;

/** Calls what reads a referrer's clicks, and returns them. */
export type ReadClicks = (read: () => Promise<DailyClicks>) => Promise<DailyClicks>;

/**
 * Returns a referrer's dashboard. The window is whole UTC days up to now: the series has exactly `days` entries,
 * and its sums are the stats.
 *
 * @param readClicks for a caller that limits these reads, or continues without clicks
 */
export async function referralStats(
  deps: Pick<ApiDeps, 'pool' | 'clickhouse' | 'config'>,
  { enrollment, address }: Enrolled,
  days: number,
  now: Date,
  readClicks: ReadClicks = (read) => read(),
): Promise<Stats> {
  const { pool, clickhouse, config } = deps;
  const { workspace_id: workspaceId } = enrollment;
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const from = new Date(midnight - (days - 1) * DAY_MS);
  const nanos = (date: Date) => BigInt(date.getTime()) * NANOS_PER_MILLI;
  const [program, own, clicks, activity, balances, commissions, payouts, coupons] = await Promise.all([
    programById(pool, workspaceId, enrollment.program_id),
    ownTermsOf(pool, enrollment, enrollment.program_id),
    referralLinkIds(pool, enrollment.id).then((linkIds) =>
      readClicks(() =>
        clicksByDay(clickhouse, { workspaceId, linkIds, span: { from: nanos(from), to: nanos(now) } }),
      ),
    ),
    activityByDay(pool, enrollment.id, from, now),
    balancesOf(pool, workspaceId, enrollment.external_user_id),
    recentCommissions(pool, enrollment.id, RECENT),
    payoutsOf(pool, enrollment.id, RECENT),
    codesOf(pool, enrollment.id, RECENT),
  ]);
  if (!program) throw new Error(`program ${enrollment.program_id} is gone`);
  const paying = programWith(program, own);
  const { currency } = program.terms;
  const series = seriesOf(from, days, clicks, activity);
  const cash = cashOf(balances, currency);
  return {
    ...partnerOf(enrollment, address, config.shortUrl),
    coupons,
    window: { from: from.toISOString(), to: now.toISOString(), days },
    stats: totalsOf(series),
    rewards: {
      cash: {
        currency,
        pending: toMajor(cash.pending + cash.eligible, currency),
        paid: toMajor(cash.paid, currency),
        total: toMajor(cash.pending + cash.eligible + cash.paid, currency),
      },
      credits: creditsOf(balances),
    },
    series,
    reward_mode: enrollment.reward_mode,
    terms: termsFor(paying),
    affiliate: {
      allowed: program.allow_affiliate_upgrade && program.terms.creditEnabled,
      credit_enabled: program.terms.creditEnabled,
      min_payout: toMajor(paying.min_payout_minor, currency),
      payout_methods: program.payout_methods,
      payout_method: savedMethod(enrollment),
      payout_held_until: heldUntil(enrollment, now),
      balance: {
        pending: toMajor(cash.pending, currency),
        eligible: toMajor(cash.eligible, currency),
        paid: toMajor(cash.paid, currency),
      },
      recent_commissions: commissions.map((commission) => ({
        date: commission.created_at.toISOString(),
        type: commission.type,
        amount: toMajor(commission.sale_minor, commission.sale_currency),
        currency: commission.sale_currency,
        earnings: toMajor(commission.earnings_minor, commission.currency),
        status: commission.status,
        held_until: commission.status === 'pending' ? commission.eligible_at.toISOString() : null,
      })),
      payouts: payouts.map((payout) => ({
        date: payout.paid_at.toISOString(),
        amount: toMajor(payout.paid_minor, payout.currency),
        status: payout.status,
      })),
    },
  };
}

/** Returns what a program pays, in either mode of its referrer. */
function termsFor({ terms, allow_affiliate_upgrade: mayEarn }: Program): Stats['terms'] {
  const earnsCash = terms.commissionRate > 0 && (!terms.creditEnabled || mayEarn);
  return {
    commission: earnsCash
      ? {
          type: terms.commissionType,
          rate: terms.commissionRate,
          first_sale_only: terms.firstSaleOnly,
          months: terms.commissionMonths,
          hold_days: terms.holdDays,
        }
      : null,
    credits: terms.creditEnabled
      ? {
          kind: terms.creditKind,
          signup: toCredits(terms.signupCredit.free),
          purchase: toCredits(terms.purchaseCredit),
        }
      : null,
  };
}

/** Returns the fields that name a referrer in every response. */
export function partnerOf(enrollment: Enrollment, address: LinkAddress, shortUrl: string) {
  return {
    partner_id: enrollment.id,
    program_id: enrollment.program_id,
    referral_link: shortUrlOf(shortUrl, address),
    status: enrollment.status,
  };
}

type Day = Stats['series'][number];

function seriesOf(
  from: Date,
  days: number,
  clicks: DailyClicks,
  activity: readonly { day: string; signups: number; purchases: number }[],
): Day[] {
  const byDay = new Map(activity.map((entry) => [entry.day, entry]));
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(from.getTime() + index * DAY_MS).toISOString().slice(0, 10);
    const { signups = 0, purchases = 0 } = byDay.get(day) ?? {};
    return { day, clicks: clicks.get(day) ?? 0, signups, purchases };
  });
}

function totalsOf(series: readonly Day[]): Stats['stats'] {
  const sum = (pick: (day: Day) => number) => series.reduce((total, day) => total + pick(day), 0);
  const clicks = sum((day) => day.clicks);
  const purchases = sum((day) => day.purchases);
  return {
    clicks,
    signups: sum((day) => day.signups),
    purchases,
    // A purchase may follow a click before the window, so the rate is capped at 100 %.
    conversion_rate: clicks === 0 ? 0 : Math.min(1, purchases / clicks),
  };
}

function cashOf(balances: readonly Balance[], currency: string) {
  const of = (account: Account) =>
    balances.find((balance) => balance.account === account && balance.unit === currency)?.amount ?? 0;
  return { pending: of('cash_pending'), eligible: of('cash_eligible'), paid: of('cash_paid') };
}

/** Returns credits by kind, in the form of every response. */
export function creditsOf(balances: readonly Balance[]): Stats['rewards']['credits'] {
  const credits = balances.filter(({ account }) => account.startsWith('credit_'));
  const byKind = Map.groupBy(credits, ({ unit }) => unit);
  return Object.fromEntries(
    [...byKind].map(([kind, accounts]) => {
      const of = (account: Account) => accounts.find((entry) => entry.account === account)?.amount ?? 0;
      const pending = of('credit_earned');
      const delivered = of('credit_delivered');
      return [
        kind,
        {
          earned: toCredits(pending + delivered),
          delivered: toCredits(delivered),
          pending: toCredits(pending),
        },
      ];
    }),
  );
}
