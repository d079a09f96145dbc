import { clicksByReferralLink } from '../../../clickhouse/queries/referral-link-clicks.ts';
import { badRequest } from '../../../core/errors.ts';
import { exponentOf } from '../../../core/money/money.ts';
import { textCell } from '../../../core/text/csv-text.ts';
import { NANOS_PER_MILLI } from '../../../core/time/timestamps.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { listEnrollments } from '../../../sql/referrals/enrollment-list.ts';
import { type EnrollmentOrder, orderedEnrollmentIds } from '../../../sql/referrals/enrollment-order.ts';
import { listRates } from '../../../sql/workspaces/currency-rates.ts';
import type { Workspace } from '../../../sql/workspaces/workspaces.ts';
import type { ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import type { EnrollmentQuery, EnrollmentWithTotals } from './schemas.ts';
import { withTotals } from './service.ts';

type Deps = Pick<ApiDeps, 'pool' | 'clickhouse' | 'config'>;

/** A page of referrers, and where the next one begins. */
export type EnrollmentPage = {
  enrollments: EnrollmentWithTotals[];
  next_cursor: string | null;
  next_offset: number | null;
};

const filterOf = (query: EnrollmentQuery) => ({
  id: null,
  programId: query.program_id ?? null,
  status: query.status ?? null,
  rewardMode: query.reward_mode ?? null,
  groupId: query.group_id ?? null,
  search: query.search ?? null,
  before: query.cursor ?? null,
});

/** A filter that every referrer passes. */
const ANY = {
  id: null,
  programId: null,
  status: null,
  rewardMode: null,
  groupId: null,
  search: null,
  before: null,
};

/** Returns the referrers that pass the filters of a query, newest first, a page of `limit` before a cursor. */
export async function newestEnrollments(
  deps: Deps,
  workspaceId: string,
  query: EnrollmentQuery,
): Promise<EnrollmentPage> {
  const listed = await listEnrollments(deps.pool, workspaceId, {
    ...filterOf(query),
    limit: query.limit + 1,
  });
  const page = cutPageAt(listed, query.limit, ({ id }) => id);
  const enrollments = await withTotals(deps, workspaceId, page.rows);
  return { enrollments, next_cursor: page.nextCursor, next_offset: null };
}

/**
 * Returns a page of referrers in the order that a query asks for.
 *
 * @throws {AppError} `bad_request` for a cursor of a sort that pages by offset, and an offset of the one that does not
 */
export async function enrollmentPage(
  deps: Deps,
  workspace: Workspace,
  query: EnrollmentQuery,
): Promise<EnrollmentPage> {
  const isDescending = (query.order ?? (query.sort === 'name' ? 'asc' : 'desc')) === 'desc';
  if (query.sort === 'created' && isDescending) {
    if (query.offset > 0) throw badRequest('offset', 'must come with `sort` or `order`; use `cursor`');
    return newestEnrollments(deps, workspace.id, query);
  }
  if (query.cursor !== undefined) throw badRequest('cursor', 'is of the newest first; a sort uses `offset`');
  const order: EnrollmentOrder = {
    sort: query.sort,
    isDescending,
    offset: query.offset,
    limit: query.limit + 1,
    clicks: new Map(),
    worths: await worthsIn(deps.pool, workspace.currency),
  };
  if (query.sort === 'clicks' || query.sort === 'epc') {
    const span = { from: 0n, to: BigInt(Date.now()) * NANOS_PER_MILLI };
    order.clicks = await clicksByReferralLink(deps.clickhouse, { workspaceId: workspace.id, span });
  }
  const found = await orderedEnrollmentIds(deps.pool, workspace.id, filterOf(query), order);
  const ids = found.slice(0, query.limit);
  const listed = await listEnrollments(deps.pool, workspace.id, { ...ANY, ids, limit: query.limit });
  const byId = new Map(listed.map((enrollment) => [enrollment.id, enrollment]));
  // One that is deleted meanwhile is left out.
  const ordered = ids.flatMap((id) => byId.get(id) ?? []);
  return {
    enrollments: await withTotals(deps, workspace.id, ordered),
    next_cursor: null,
    next_offset: found.length > query.limit ? query.offset + query.limit : null,
  };
}

/** Returns the worth of a minor unit of each currency that has a rate, in minor units of the base. */
async function worthsIn(db: Queryable, base: string): Promise<Map<string, number>> {
  const rates = (await listRates(db)).filter((rate) => rate.base === base);
  return new Map(
    [{ currency: base, rate: 1 }, ...rates].map(({ currency, rate }) => [
      currency,
      rate * 10 ** (exponentOf(base) - exponentOf(currency)),
    ]),
  );
}

type Row = { enrollment: EnrollmentWithTotals; program: { name: string; currency: string } };

/** Amounts of a row that are not in the program's currency. */
function otherAmounts({ enrollment: { totals, balances }, program }: Row): string {
  const others = Object.entries({ revenue: totals.revenue, balances: balances.cash }).map(
    ([name, amounts]) => [
      name,
      Object.fromEntries(Object.entries(amounts).filter(([currency]) => currency !== program.currency)),
    ],
  );
  const known = others.filter(([, amounts]) => Object.keys(amounts ?? {}).length > 0);
  return known.length === 0 ? '' : JSON.stringify(Object.fromEntries(known));
}

const NOTHING = { pending: 0, eligible: 0, paid: 0 };
const cash = ({ enrollment, program }: Row) => enrollment.balances.cash[program.currency] ?? NOTHING;
const amountOf = (amounts: Record<string, number>, { program }: Row) =>
  String(amounts[program.currency] ?? 0);

/** The columns of the file of referrers. Amounts are in the program's currency. */
export const ENROLLMENT_COLUMNS: readonly [string, (row: Row) => string][] = [
  ['partner_id', ({ enrollment }) => enrollment.partner_id],
  ['name', ({ enrollment }) => textCell(enrollment.name ?? '')],
  ['email', ({ enrollment }) => textCell(enrollment.email ?? '')],
  ['external_user_id', ({ enrollment }) => textCell(enrollment.external_user_id)],
  ['program', ({ program }) => textCell(program.name)],
  ['status', ({ enrollment }) => enrollment.status],
  ['reward_mode', ({ enrollment }) => enrollment.reward_mode],
  ['referral_link', ({ enrollment }) => enrollment.referral_link ?? ''],
  ['created_at', ({ enrollment }) => enrollment.created_at],
  ['clicks', ({ enrollment }) => String(enrollment.totals.clicks)],
  ['signups', ({ enrollment }) => String(enrollment.totals.signups)],
  ['blocked_signups', ({ enrollment }) => String(enrollment.totals.blocked_signups)],
  ['purchases', ({ enrollment }) => String(enrollment.totals.purchases)],
  ['buyers', ({ enrollment }) => String(enrollment.totals.buyers)],
  ['currency', ({ program }) => program.currency],
  ['revenue', (row) => amountOf(row.enrollment.totals.revenue, row)],
  ['pending', (row) => String(cash(row).pending)],
  ['eligible', (row) => String(cash(row).eligible)],
  ['paid', (row) => String(cash(row).paid)],
  ['epc', (row) => amountOf(row.enrollment.totals.epc, row)],
  ['average_lifetime_value', (row) => amountOf(row.enrollment.totals.average_lifetime_value, row)],
  ['other_currencies', otherAmounts],
];
