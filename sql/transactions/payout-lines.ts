import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../database/pool.ts';
import type { HeldCommission } from '../referrals/commissions.ts';
import type { Entry } from '../referrals/ledger.ts';
import { lockPayoutExport, lockPayouts, type Payout, type PayoutExport } from '../referrals/payouts.ts';

/** @throws {AppError} `not_found` when the file has no line of the partner */
export function lineOf(all: readonly Payout[], exportId: string, partnerId: string): Payout {
  const line = all.find(({ enrollment_id }) => enrollment_id === partnerId.toLowerCase());
  if (!line) throw new AppError('not_found', `payout ${exportId} has no line of partner ${partnerId}`);
  return line;
}

/**
 * Returns a payout file. Locks it and all other files of the workspace until the transaction ends.
 *
 * @throws {AppError} `not_found` when the workspace has no such file
 */
export async function lockFile(tx: Queryable, workspaceId: string, exportId: string): Promise<PayoutExport> {
  await lockPayouts(tx, workspaceId);
  const file = await lockPayoutExport(tx, workspaceId, exportId);
  if (!file) throw new AppError('not_found', `there is no payout ${exportId}`);
  return file;
}

/** Returns the entries that move a commission's remainder to the paid account, or back. */
export function moveEntries(
  commission: HeldCommission,
  payoutId: string,
  cause: 'payout' | 'payout_failed',
): Entry[] {
  const entry = {
    enrollmentId: commission.enrollment_id,
    externalUserId: commission.external_user_id,
    unit: commission.currency,
    cause,
    commissionId: commission.id,
    payoutId,
  } as const;
  const amount = cause === 'payout' ? commission.remaining_minor : -commission.remaining_minor;
  return [
    { ...entry, account: 'cash_eligible', amount: -amount },
    { ...entry, account: 'cash_paid', amount },
  ];
}

/** The amounts of a file's lines, as its events sum them. */
export const amountsOf = (lines: readonly Payout[]) =>
  lines.map(({ currency, amount_minor }) => ({ currency, amountMinor: amount_minor }));
