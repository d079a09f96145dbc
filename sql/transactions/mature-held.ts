import type { Queryable } from '../database/pool.ts';
import { lockMatured } from '../referrals/commissions.ts';
import { appendEntries, type Entry } from '../referrals/ledger.ts';
import { moveCommissions } from './move-commissions.ts';

/**
 * Makes pending commissions eligible when their hold period is over, each with the two entries that move its remainder.
 * Concurrent calls are safe.
 *
 * @param given.limit commissions in this transaction, at most
 * @returns how many it moved
 */
export async function matureHeld(
  tx: Queryable,
  given: { now: Date; limit: number; workspaceId?: string },
): Promise<number> {
  const commissions = await lockMatured(tx, given);
  await moveCommissions(
    tx,
    commissions.map((commission) => commission.id),
    'eligible',
    given.now,
  );
  const byWorkspace = Map.groupBy(commissions, (commission) => commission.workspace_id);
  for (const [workspaceId, held] of byWorkspace) {
    const entries = held.flatMap((commission): Entry[] => {
      const entry = {
        enrollmentId: commission.enrollment_id,
        externalUserId: commission.external_user_id,
        unit: commission.currency,
        cause: 'hold_over',
        commissionId: commission.id,
      } as const;
      const left = commission.remaining_minor;
      return [
        { ...entry, account: 'cash_pending', amount: -left },
        { ...entry, account: 'cash_eligible', amount: left },
      ];
    });
    await appendEntries(tx, workspaceId, entries, given.now);
  }
  return commissions.length;
}
