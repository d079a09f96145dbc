import type { Queryable } from '../database/pool.ts';

/** Which of the clocks' work waits, whoever may do it and whether or not its time has come. */
export type PendingWork = {
  /** Orders whose credits do not stand in ClickHouse. */
  attribution: boolean;
  /** Signups that the watermark may resolve. */
  pendingSignups: boolean;
  /** Orders that the programme has not judged. */
  trackedPurchases: boolean;
  /** Refunds that came before their order. */
  earlyRefunds: boolean;
  /** Orders that ClickHouse lacks. */
  orderPublications: boolean;
};

/** What waits at this moment: one statement for all of it, because an idle worker asks all day. */
export async function pendingWork(db: Queryable): Promise<PendingWork> {
  const { rows } = await db.query<PendingWork>(
    `SELECT
      EXISTS (SELECT FROM orders WHERE credited_version IS DISTINCT FROM version) AS attribution,
      EXISTS (SELECT FROM signups WHERE state = 'pending') AS "pendingSignups",
      EXISTS (SELECT FROM orders WHERE source = 'server' AND referral_judged_at IS NULL) AS "trackedPurchases",
      EXISTS (SELECT FROM early_refunds) AS "earlyRefunds",
      EXISTS (SELECT FROM order_publications) AS "orderPublications"`,
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL answered a question without FROM with no row');
  return row;
}
