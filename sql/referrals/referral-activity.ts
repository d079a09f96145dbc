import type { Queryable } from '../database/pool.ts';
import { IS_COUNTED } from './purchases.ts';

/** Signups and purchases of a referrer on one UTC day, as `YYYY-MM-DD`. */
export type DayActivity = { day: string; signups: number; purchases: number };

/**
 * Returns signups and purchases that a referrer brought in `[from, to)`, by UTC day of the signup's report and of the
 * purchase. Leaves out blocked and held signups with their purchases, purchases made while the referrer was suspended,
 * and days with neither signups nor purchases.
 */
export async function activityByDay(
  db: Queryable,
  enrollmentId: string,
  from: Date,
  to: Date,
): Promise<DayActivity[]> {
  const { rows } = await db.query<DayActivity>(
    `SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(signup)::bigint AS signups,
       sum(purchase)::bigint AS purchases
     FROM (
       SELECT reported_at AS at, 1 AS signup, 0 AS purchase FROM signups
       WHERE enrollment_id = $1 AND state = 'matched' AND block_reason IS NULL AND reported_at >= $2 AND reported_at < $3
       UNION ALL
       SELECT purchased_at, 0, 1 FROM purchases
       WHERE enrollment_id = $1 AND ${IS_COUNTED}
         AND purchased_at >= $2 AND purchased_at < $3
     ) AS activity GROUP BY 1`,
    [enrollmentId, from, to],
  );
  return rows;
}
