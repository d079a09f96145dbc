import { AppError } from '../../core/errors.ts';
import { assertInvariant } from '../../core/invariants.ts';
import type { PayoutMethod } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import {
  type HeldCommission,
  lockCommissions,
  lockEligible,
  moveCommissions,
} from '../referrals/commissions.ts';
import { appendEntries, type Entry } from '../referrals/ledger.ts';
import {
  exportedCommissions,
  insertPayoutExport,
  insertPayouts,
  lockPayoutExport,
  markExportPaid,
  type NewPayout,
  payoutsOfExport,
} from '../referrals/payouts.ts';
import { matureHeld } from './mature-held.ts';

/** One line of a payout file. */
export type PayoutLine = {
  partnerId: string;
  programId: string;
  externalUserId: string;
  name: string | null;
  email: string | null;
  method: PayoutMethod | null;
  payoutEmail: string | null;
  /** Minor units of `currency`. */
  amountMinor: number;
  currency: string;
  commissions: number;
};

/** Hold periods that one file ends at most. The job ends nearly all of them before. */
const MATURE_LIMIT = 10_000;

type Payee = {
  id: string;
  program_id: string;
  external_user_id: string;
  name: string | null;
  email: string | null;
  payout_method: PayoutMethod | null;
  payout_email: string | null;
  min_payout_minor: number;
};

/**
 * Creates a payout file: one line for each referrer whose eligible balance reaches the program's minimum. The balance
 * is net of refunds of paid commissions. Suspended referrers are left out and keep their balance.
 *
 * @param programId null: every program of the workspace
 */
export async function exportPayouts(
  tx: Queryable,
  workspaceId: string,
  programId: string | null,
  now: Date,
): Promise<{ exportId: string; lines: PayoutLine[] }> {
  await matureHeld(tx, { now, limit: MATURE_LIMIT, workspaceId });
  const byReferrer = Map.groupBy(
    await lockEligible(tx, workspaceId, programId),
    (held) => held.enrollment_id,
  );
  const { rows: payees } = await tx.query<Payee>(
    `SELECT e.id, e.program_id, e.external_user_id, e.name, e.email, e.payout_method, e.payout_email,
       p.min_payout_minor
     FROM enrollments e JOIN programs p ON p.id = e.program_id WHERE e.workspace_id = $1 AND e.id = ANY ($2)
     ORDER BY e.payout_method NULLS LAST, e.id`,
    [workspaceId, [...byReferrer.keys()]],
  );
  const exportId = await insertPayoutExport(tx, { workspaceId, programId, now });
  const lines: PayoutLine[] = [];
  const payouts: NewPayout[] = [];
  for (const payee of payees) {
    const held = byReferrer.get(payee.id) ?? [];
    const amountMinor = sumOf(held);
    if (amountMinor <= 0 || amountMinor < payee.min_payout_minor) continue;
    const payout = payoutOf(payee, held, amountMinor);
    payouts.push(payout);
    lines.push({
      partnerId: payee.id,
      programId: payee.program_id,
      externalUserId: payee.external_user_id,
      name: payee.name,
      email: payee.email,
      method: payee.payout_method,
      payoutEmail: payee.payout_email,
      amountMinor,
      currency: payout.currency,
      commissions: held.length,
    });
  }
  await insertPayouts(tx, { workspaceId, exportId, payouts, now });
  return { exportId, lines };
}

/** A program's currency can't change once it has commissions, so a referrer's commissions share one currency. */
function payoutOf(payee: Payee, held: readonly HeldCommission[], amountMinor: number): NewPayout {
  const [currency, ...others] = new Set(held.map((commission) => commission.currency));
  if (currency === undefined || others.length > 0)
    throw new Error(`partner ${payee.id} has commissions in ${others.length + 1} currencies, expected one`);
  return {
    enrollmentId: payee.id,
    method: payee.payout_method,
    currency,
    amountMinor,
    commissions: held.map(({ id, remaining_minor }) => ({ id, amountMinor: remaining_minor })),
  };
}

/** Result of paying a file: number of referrers, and minor units by currency. */
export type PaidOut = { paid: number; totals: Map<string, number> };

/**
 * Marks exactly the commissions of a payout file as paid, not those that became eligible since. A second call returns
 * the result of the first.
 *
 * @throws {AppError} `not_found` when the workspace has no such file; `conflict` when another file paid one of its
 *   commissions
 */
export async function payExport(
  tx: Queryable,
  workspaceId: string,
  exportId: string,
  now: Date,
): Promise<PaidOut> {
  const file = await lockPayoutExport(tx, workspaceId, exportId);
  if (!file) throw new AppError('not_found', `there is no payout export ${exportId}`);
  if (!file.paid_at) await payCommissions(tx, workspaceId, exportId, now);
  const payouts = await payoutsOfExport(tx, exportId);
  const totals = new Map<string, number>();
  for (const { currency, amount_minor } of payouts) {
    totals.set(currency, (totals.get(currency) ?? 0) + amount_minor);
  }
  return { paid: payouts.length, totals };
}

async function payCommissions(
  tx: Queryable,
  workspaceId: string,
  exportId: string,
  now: Date,
): Promise<void> {
  const exported = new Map(
    (await exportedCommissions(tx, exportId)).map((part) => [part.commission_id, part]),
  );
  const held = await lockCommissions(tx, [...exported.keys()]);
  const entries: Entry[] = [];
  for (const commission of held) {
    const part = exported.get(commission.id);
    if (commission.status === 'paid') {
      throw new AppError(
        'conflict',
        'a commission in this export was paid by another export: create a new export',
      );
    }
    const { id, status, remaining_minor: left } = commission;
    assertInvariant(
      'payout_equals_entries',
      part !== undefined && status === 'eligible' && part.amount_minor === left,
      () =>
        `export ${exportId} pays ${part?.amount_minor} for the ${status} commission ${id} with ${left} left`,
    );
    const entry = {
      enrollmentId: commission.enrollment_id,
      externalUserId: commission.external_user_id,
      unit: commission.currency,
      cause: 'payout',
      commissionId: commission.id,
      payoutId: part.payout_id,
    } as const;
    entries.push({ ...entry, account: 'cash_eligible', amount: -part.amount_minor });
    entries.push({ ...entry, account: 'cash_paid', amount: part.amount_minor });
  }
  await moveCommissions(tx, [...exported.keys()], 'paid', now);
  await appendEntries(tx, workspaceId, entries, now);
  await markExportPaid(tx, exportId, now);
}

function sumOf(held: readonly HeldCommission[]): number {
  return held.reduce((sum, commission) => sum + commission.remaining_minor, 0);
}
