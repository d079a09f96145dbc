import { AppError } from '../../core/errors.ts';
import { assertInvariant } from '../../core/invariants.ts';
import { toMajor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { noteForAffiliates } from '../portal/notices.ts';
import { lockCommissions, noLongerDue } from '../referrals/commissions.ts';
import { appendEntries } from '../referrals/ledger.ts';
import {
  commissionsPaidBy,
  markPayoutFailed,
  markPayoutRetried,
  payoutsOfExport,
} from '../referrals/payouts.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { payoutData } from './export-payouts.ts';
import { moveCommissions } from './move-commissions.ts';
import { amountsOf, lineOf, lockFile, moveEntries } from './payout-lines.ts';
import { takeBackCommission } from './undo-rewards.ts';

/** Failed payments. See `pay-payout.ts` for the states of a line. */

/**
 * Reverses the payment of a line by entries: its commissions are eligible again. Commissions that a correction left
 * because they were paid are reversed now. A second call changes nothing.
 *
 * @throws {AppError} `not_found` when the workspace has no such file, or the file has no such line; `conflict` when the
 *   line is not paid
 */
export async function failPayoutLine(
  tx: Queryable,
  workspaceId: string,
  given: { exportId: string; partnerId: string; reason: string; now: Date },
): Promise<void> {
  const { exportId, partnerId, reason, now } = given;
  const file = await lockFile(tx, workspaceId, exportId);
  const all = await payoutsOfExport(tx, exportId);
  const line = lineOf(all, exportId, partnerId);
  if (line.status === 'failed') return;
  if (line.paid_minor === null) {
    throw new AppError('conflict', `the line of partner ${partnerId} is not paid: only a paid line can fail`);
  }
  if (line.paid_minor === 0) {
    throw new AppError(
      'conflict',
      `another file paid the line of partner ${partnerId}: mark the line of that one`,
    );
  }
  const held = await lockCommissions(tx, await commissionsPaidBy(tx, line.id));
  const amount = held.reduce((sum, { remaining_minor }) => sum + remaining_minor, 0);
  assertInvariant(
    'payout_equals_entries',
    amount === line.paid_minor,
    () => `payout line ${line.id} paid ${line.paid_minor}, its commissions have ${amount}`,
  );
  await appendEntries(
    tx,
    workspaceId,
    held.flatMap((commission) => moveEntries(commission, line.id, 'payout_failed')),
    now,
  );
  await moveCommissions(
    tx,
    held.map(({ id }) => id),
    'eligible',
    now,
  );
  await markPayoutFailed(tx, line.id, reason, now);
  const data = {
    ...payoutData(file, amountsOf(all)),
    partner_id: line.enrollment_id,
    amount: toMajor(amount, line.currency),
    currency: line.currency,
    reason,
  };
  await queueEvents(tx, workspaceId, [{ type: 'payout.failed', data }]);
  const failed = { enrollmentId: line.enrollment_id, amountMinor: amount, currency: line.currency };
  await noteForAffiliates(tx, 'payout_failed', [failed], now);
  const wrong = await noLongerDue(
    tx,
    held.map(({ id }) => id),
  );
  for (const commission of held) {
    if (wrong.has(commission.id)) await takeBackCommission(tx, { ...commission, status: 'eligible' }, now);
  }
}

/**
 * Lets later files pay the referrer of a failed line again, at the same address. A second call changes nothing.
 *
 * @throws {AppError} `not_found` when the workspace has no such file, or the file has no such line; `conflict` when the
 *   line has not failed
 */
export async function retryPayoutLine(
  tx: Queryable,
  workspaceId: string,
  given: { exportId: string; partnerId: string; now: Date },
): Promise<void> {
  const { exportId, partnerId, now } = given;
  await lockFile(tx, workspaceId, exportId);
  const line = lineOf(await payoutsOfExport(tx, exportId), exportId, partnerId);
  if (line.status !== 'failed') {
    throw new AppError(
      'conflict',
      `the line of partner ${partnerId} is ${line.status}: only a failed line can be retried`,
    );
  }
  if (line.retried_at === null) await markPayoutRetried(tx, line.id, now);
}
