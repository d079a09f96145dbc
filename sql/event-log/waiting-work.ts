import type { Queryable } from '../database/pool.ts';

/** Which of the clocks' work waits, whoever may do it and whether or not its time has come. */
export type WaitingWork = {
  /** Orders whose attributed shares are not in ClickHouse. */
  attribution: boolean;
  /** Signups that the watermark may resolve. */
  pendingSignups: boolean;
  /** Orders that the programme has not judged. */
  trackedPurchases: boolean;
  /** Refunds that came before their order. */
  earlyRefunds: boolean;
  /** Orders whose row in ClickHouse is to be written. */
  orderPublications: boolean;
};

/** What waits at this moment: one statement for all of it, because an idle worker asks all day. */
export async function waitingWork(db: Queryable): Promise<WaitingWork> {
  const { rows } = await db.query<WaitingWork>(
    `SELECT
      EXISTS (SELECT FROM orders WHERE attributed_version IS DISTINCT FROM version) AS attribution,
      EXISTS (SELECT FROM signups WHERE state = 'pending') AS "pendingSignups",
      EXISTS (SELECT FROM orders WHERE source = 'server' AND referral_judged_at IS NULL) AS "trackedPurchases",
      EXISTS (SELECT FROM early_refunds) AS "earlyRefunds",
      EXISTS (SELECT FROM order_publications WHERE due_at <= now()) AS "orderPublications"`,
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL answered a question without FROM with no row');
  return row;
}
