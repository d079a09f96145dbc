import { AppError } from '../../core/errors.ts';
import { assertInvariant } from '../../core/invariants.ts';
import { unitOf } from '../../core/referrals/payout-formats.ts';
import type { Queryable } from '../database/pool.ts';
import { noteForAffiliates } from '../portal/notices.ts';
import { type HeldCommission, lockCommissions } from '../referrals/commissions.ts';
import { lockEnrollmentShared } from '../referrals/enrollments.ts';
import { appendEntries, type Entry } from '../referrals/ledger.ts';
import {
  closePaidLines,
  exportedCommissions,
  markExportCanceled,
  markExportPaid,
  markPayoutsPaid,
  type Payout,
  type PayoutExport,
  payoutsOfExport,
} from '../referrals/payouts.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { majorTotals, payoutData } from './export-payouts.ts';
import { addManualCommission } from './manual-commission.ts';
import { moveCommissions } from './move-commissions.ts';
import { amountsOf, lockFile, moveEntries } from './payout-lines.ts';

/**
 * The states of a payout file and its lines. Every change holds the lock of the workspace's files, then those of the
 * commissions.
 *
 *     file   open --pay the last open line--> paid        line   open --pay--> paid --fail--> failed --retry--> failed
 *            open --cancel, no line was paid--> canceled
 *            open --cancel, a line was paid--> paid, its open lines stay open and can't be paid
 *
 * A line pays those of its commissions that no other file has paid. It stays open where that is nothing positive, and
 * is paid with an amount of 0 where other files have paid all of them. A failed line keeps the referrer out of later
 * files until the address changes or the line is retried.
 */

/** The paid lines of a file, or of some partners in it: their number, and major units by currency. */
export type PaidOut = { paid: number; totals: Record<string, number> };

/**
 * Pays the open lines of a payout file: exactly its commissions, without those that became eligible later. A second
 * call returns the result of the first.
 *
 * @param given.partnerIds pays these lines only; null: all
 * @throws {AppError} `not_found` when the workspace has no such file, or the file has no such line; `conflict` when the
 * file was canceled, or the payment to one of these partners failed
 */
export async function payExport(
  tx: Queryable,
  workspaceId: string,
  given: { exportId: string; partnerIds: readonly string[] | null; now: Date },
): Promise<PaidOut> {
  const { exportId, partnerIds, now } = given;
  const file = await lockFile(tx, workspaceId, exportId);
  if (file.canceled_at) {
    throw new AppError('conflict', `payout ${exportId} was canceled: create a new payout file`);
  }
  const all = await payoutsOfExport(tx, exportId);
  const asked = partnerIds === null ? all : linesOfPartners(all, exportId, partnerIds);
  const open = asked.filter(({ status }) => status === 'open');
  const paid = await payLines(tx, file, workspaceId, open, now);
  const isDone = all.every(({ id, status }) => status !== 'open' || paid.has(id));
  if (isDone && file.status === 'open') await markExportPaid(tx, exportId, now);
  if (paid.size > 0) {
    const data = payoutData({ ...file, status: isDone ? 'paid' : file.status }, amountsOf(all));
    await queueEvents(tx, workspaceId, [{ type: 'payout.paid', data }]);
    const sent = open.flatMap(({ id, enrollment_id: enrollmentId, currency }) => {
      const amountMinor = paid.get(id);
      return amountMinor === undefined ? [] : [{ enrollmentId, amountMinor, currency }];
    });
    await noteForAffiliates(tx, 'payout', sent, now);
  }
  const done = asked.flatMap(({ id, status, currency, paid_minor }) => {
    const amountMinor = status === 'paid' ? paid_minor : paid.get(id);
    return !amountMinor ? [] : [{ currency, amountMinor }];
  });
  return { paid: done.length, totals: majorTotals(done) };
}

function linesOfPartners(all: readonly Payout[], exportId: string, partnerIds: readonly string[]): Payout[] {
  const byPartner = new Map(all.map((line) => [line.enrollment_id, line]));
  return [...new Set(partnerIds.map((id) => id.toLowerCase()))].map((partnerId) => {
    const line = byPartner.get(partnerId);
    if (!line) throw new AppError('not_found', `payout ${exportId} has no line of partner ${partnerId}`);
    if (line.status === 'failed') {
      throw new AppError(
        'conflict',
        `the payment to partner ${partnerId} failed: change the address or retry the line, and create a new payout file`,
      );
    }
    return line;
  });
}

/** Pays open lines. Returns the amount that each paid; lines without a payable amount are left out. */
async function payLines(
  tx: Queryable,
  file: PayoutExport,
  workspaceId: string,
  lines: readonly Payout[],
  now: Date,
): Promise<Map<string, number>> {
  const exported = new Map(
    (
      await exportedCommissions(
        tx,
        lines.map(({ id }) => id),
      )
    ).map((part) => [part.commission_id, part]),
  );
  const eligible = (await lockCommissions(tx, [...exported.keys()])).filter(
    ({ status }) => status === 'eligible',
  );
  const paid = new Map<string, number>();
  const entries: Entry[] = [];
  const moved: string[] = [];
  for (const [payoutId, held] of Map.groupBy(eligible, ({ id }) => exported.get(id)?.payout_id)) {
    const line = lines.find(({ id }) => id === payoutId);
    if (!line) continue;
    const owed = held.reduce((sum, { remaining_minor }) => sum + remaining_minor, 0);
    const rest = owed % unitOf(file.format, line.currency);
    const amount = owed - rest;
    if (amount <= 0) continue;
    paid.set(line.id, amount);
    for (const commission of held) {
      const stored = exported.get(commission.id)?.amount_minor;
      assertInvariant(
        'payout_equals_entries',
        stored === commission.remaining_minor,
        () =>
          `commission ${commission.id} has ${commission.remaining_minor} left, and ${stored} in open payout line ${payoutId}`,
      );
      moved.push(commission.id);
      entries.push(...moveEntries(commission, line.id, 'payout'));
    }
    if (rest === 0) continue;
    const taken = await keepRest(tx, file, { workspaceId, line, rest, now });
    moved.push(taken.id);
    entries.push(...moveEntries(taken, line.id, 'payout'));
  }
  await moveCommissions(tx, moved, 'paid', now);
  await appendEntries(tx, workspaceId, entries, now);
  await markPayoutsPaid(
    tx,
    [...paid].map(([id, paidMinor]) => ({ id, paidMinor })),
    now,
  );
  await closePaidLines(tx, moved, now);
  return paid;
}

/**
 * Leaves in the balance the part of a line that the file's format can't express. It writes two commissions of that
 * amount: a negative one, which the line pays, and a positive one, which stays eligible.
 *
 * @returns the negative one, locked
 */
async function keepRest(
  tx: Queryable,
  file: PayoutExport,
  given: { workspaceId: string; line: Payout; rest: number; now: Date },
): Promise<HeldCommission> {
  const { workspaceId, line, rest, now } = given;
  const enrollment = await lockEnrollmentShared(tx, workspaceId, line.enrollment_id);
  const owner = { ...enrollment, program_id: file.program_id ?? enrollment.program_id };
  const written = { currency: line.currency, now };
  const note = `payout ${file.id} is rounded down to what ${file.format} takes in ${line.currency}`;
  const taken = await addManualCommission(tx, owner, { ...written, amountMinor: -rest, note });
  await addManualCommission(tx, owner, { ...written, amountMinor: rest, note: `rest: ${note}` });
  const [held] = await lockCommissions(tx, [taken.id]);
  if (!held) throw new Error(`commission ${taken.id} does not exist`);
  return held;
}

/**
 * Cancels the open lines of a payout file, which can't be paid by this file any more. A second call changes nothing.
 *
 * @throws {AppError} `not_found` when the workspace has no such file; `conflict` when nothing in it is open
 */
export async function cancelExport(
  tx: Queryable,
  workspaceId: string,
  { exportId, now }: { exportId: string; now: Date },
): Promise<void> {
  const file = await lockFile(tx, workspaceId, exportId);
  if (file.canceled_at) return;
  if (file.status === 'paid') {
    throw new AppError('conflict', `payout ${exportId} is paid: fail its lines instead`);
  }
  const lines = await payoutsOfExport(tx, exportId);
  const wasPaid = lines.some(({ status }) => status !== 'open');
  await markExportCanceled(tx, exportId, wasPaid ? 'paid' : 'canceled', now);
}
