import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../database/pool.ts';
import {
  accountOf,
  type Commission,
  type HeldCommission,
  insertCommission,
  lockCommissionsOfWorkspace,
  lockReversing,
} from '../referrals/commissions.ts';
import type { Enrollment } from '../referrals/enrollments.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { commissionData, moveCommissions } from './move-commissions.ts';

/** Writes a bonus, or a claw-back when the amount is negative, to a locked enrollment. It is eligible at once. */
export async function addManualCommission(
  tx: Queryable,
  enrollment: Enrollment,
  given: { amountMinor: number; currency: string; note: string; now: Date },
): Promise<Commission> {
  const { amountMinor, currency, note, now } = given;
  const { id: enrollmentId, workspace_id: workspaceId } = enrollment;
  const commission = await insertCommission(
    tx,
    {
      workspace_id: workspaceId,
      program_id: enrollment.program_id,
      enrollment_id: enrollmentId,
      order_internal_id: null,
      level: null,
      kind: 'manual',
      amount_minor: amountMinor,
      currency,
      status: 'eligible',
      eligible_at: now,
      note,
    },
    now,
  );
  await appendEntries(
    tx,
    workspaceId,
    [
      {
        enrollmentId,
        externalUserId: enrollment.external_user_id,
        account: 'cash_eligible',
        unit: currency,
        amount: amountMinor,
        cause: 'manual',
        commissionId: commission.id,
      },
    ],
    now,
  );
  await queueEvents(tx, workspaceId, [
    { type: 'commission.created', data: commissionData(commission, null, amountMinor) },
  ]);
  return commission;
}

/**
 * Rejects a commission that is not paid, and the negative commissions that refunds wrote for it, so that none of them
 * has a remainder. A second call changes nothing. An open payout file pays the rest of its line.
 *
 * @throws {AppError} `not_found` when the workspace has no such commission; `conflict` when it is paid or reversed,
 *   when it reverses another, or when a payout has deducted a refund of it
 */
export async function rejectCommission(
  tx: Queryable,
  workspaceId: string,
  { id, now }: { id: string; now: Date },
): Promise<void> {
  const [commission] = await lockCommissionsOfWorkspace(tx, workspaceId, [id]);
  if (!commission) throw new AppError('not_found', `there is no commission ${id}`);
  const { status, kind } = commission;
  if (status === 'rejected') return;
  if (kind === 'refund' || kind === 'correction') {
    throw new AppError('conflict', `commission ${id} reverses another: reject that one instead`);
  }
  if (status === 'paid' || status === 'reversed') {
    throw new AppError(
      'conflict',
      `commission ${id} is ${status}: only a pending or eligible one can be rejected`,
    );
  }
  const reversing = await lockReversing(tx, id);
  if (reversing.some((negative) => negative.status === 'paid')) {
    throw new AppError(
      'conflict',
      `a payout has deducted a refund of commission ${id}: claw the rest back with POST /commissions`,
    );
  }
  const rejected = [commission, ...reversing.filter((negative) => negative.status === 'eligible')];
  await appendEntries(tx, workspaceId, rejected.map(rejection), now);
  await moveCommissions(
    tx,
    rejected.map((one) => one.id),
    'rejected',
    now,
  );
}

function rejection(commission: HeldCommission) {
  const { status } = commission;
  if (status !== 'pending' && status !== 'eligible') {
    throw new Error(`commission ${commission.id} is ${status}: it can't be rejected`);
  }
  return {
    enrollmentId: commission.enrollment_id,
    externalUserId: commission.external_user_id,
    account: accountOf(status),
    unit: commission.currency,
    amount: -commission.remaining_minor,
    cause: 'rejection',
    commissionId: commission.id,
  } as const;
}
