import type { PayoutFormat } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { ELIGIBLE } from './eligible-balances.ts';
import { PAYMENTS_WITHOUT_BUYER } from './purchase-list.ts';

/** What waits for a person in the referrals of a workspace. */
export type OpenDecisions = {
  /** Signups under review, as the list with `status=held` has them. */
  held_signups: number;
  /** Balances that a payout file leaves out, because a page changed the address. */
  changed_payout_methods: number;
  /** Balances that a payout file leaves out, because the referrer named no address. */
  missing_payout_methods: number;
  /** Failed lines of payout files whose referrer was not paid since. */
  failed_payouts: number;
  /** The file with the newest of them; null: none. */
  failed_payout_file: string | null;
  /** Purchases of the window that have no referrer. */
  unmatched_purchases: number;
  /** Purchases that earned nothing because their currency has no rate. */
  purchases_without_rate: number;
  failed_credit_deliveries: number;
};

/**
 * Counts what waits for a person.
 *
 * @param scope.programId null: every program. Unmatched purchases belong to no program: with one they are 0.
 * @param scope.from purchases without a referrer count from here to `now`
 */
export async function openDecisions(
  db: Queryable,
  {
    workspaceId,
    programId,
    from,
    now,
  }: { workspaceId: string; programId: string | null; from: Date; now: Date },
): Promise<OpenDecisions> {
  const { rows } = await db.query<OpenDecisions>(
    `WITH held_back AS (SELECT held_back, count(*) AS balances FROM (${ELIGIBLE}) AS eligible GROUP BY held_back),
     failed AS (
       SELECT p.export_id, p.failed_at FROM payouts p JOIN enrollments e ON e.id = p.enrollment_id
       WHERE p.workspace_id = $1 AND p.status = 'failed' AND ($2::uuid IS NULL OR e.program_id = $2)
         AND NOT EXISTS (SELECT FROM payouts later WHERE later.enrollment_id = p.enrollment_id
           AND later.paid_minor > 0 AND later.paid_at > p.failed_at))
     SELECT
       (SELECT count(*) FROM signups WHERE workspace_id = $1 AND (state = 'held' OR rewards_held)
          AND ($2::uuid IS NULL OR program_id = $2)) AS held_signups,
       coalesce((SELECT balances FROM held_back WHERE held_back = 'payout_method_changed'), 0)::bigint
         AS changed_payout_methods,
       coalesce((SELECT balances FROM held_back WHERE held_back = 'no_payout_method'), 0)::bigint
         AS missing_payout_methods,
       (SELECT count(*) FROM failed) AS failed_payouts,
       (SELECT export_id FROM failed ORDER BY failed_at DESC LIMIT 1) AS failed_payout_file,
       (SELECT count(*) FROM purchases WHERE workspace_id = $1 AND $2::uuid IS NULL AND enrollment_id IS NULL
          AND reason IS DISTINCT FROM 'same_payment'
          AND purchased_at >= $5 AND purchased_at < $3)
        + (SELECT count(*) FROM (${PAYMENTS_WITHOUT_BUYER}) AS payment WHERE $2::uuid IS NULL
           AND purchased_at >= $5 AND purchased_at < $3) AS unmatched_purchases,
       (SELECT count(*) FROM purchases p LEFT JOIN enrollments e ON e.id = p.enrollment_id
        WHERE p.workspace_id = $1 AND p.reason = 'no_currency_rate' AND ($2::uuid IS NULL OR e.program_id = $2))
         AS purchases_without_rate,
       (SELECT count(*) FROM fulfilments f JOIN grant_deliveries d ON d.fulfilment_id = f.id
        WHERE f.workspace_id = $1 AND d.status = 'failed' AND ($2::uuid IS NULL OR f.program_id = $2))
         AS failed_credit_deliveries`,
    [workspaceId, programId, now, 'csv' satisfies PayoutFormat, from],
  );
  const [row] = rows;
  if (!row) throw new Error('the open decisions have no row');
  return row;
}
