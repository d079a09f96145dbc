import type { Queryable } from '../database/pool.ts';
import { BUYER, IS_COUNTED, KEPT_MINOR } from './purchases.ts';

/** A window of the referrals of a workspace. `programId` null: of every program. */
export type ActivityScope = { workspaceId: string; programId: string | null; from: Date; to: Date };

/** Clicks by referral link. */
export type LinkClicks = ReadonlyMap<string, number>;

/** An amount in minor units of its currency. */
type Amount = { currency: string; amount_minor: number };

type Counts = { clicks: number; signups: number; buyers: number; purchases: number };

/** What referrers brought in a window. Revenue is the amount of purchases without refunds, by currency. */
export type ProgramActivity = Counts & { revenue: Amount[] };

export type TopReferrer = ProgramActivity & {
  enrollment_id: string;
  program_id: string;
  external_user_id: string;
  name: string | null;
};

/**
 * SQL: clicks, signups and counted purchases of a window, by enrollment. A buyer is the user, else the email, else the
 * order: a coupon's order may name neither. `$1` workspace, `$2` program or null, `$3` from, `$4` to, `$5` links and
 * `$6` their clicks.
 */
const BROUGHT = `clicked AS (
    SELECT e.id AS enrollment_id, sum(k.clicks) AS clicks
    FROM unnest($5::uuid[], $6::bigint[]) AS k (link_id, clicks)
    JOIN referral_links r ON r.link_id = k.link_id JOIN enrollments e ON e.id = r.enrollment_id
    WHERE e.workspace_id = $1 AND ($2::uuid IS NULL OR e.program_id = $2) GROUP BY e.id),
  signed AS (
    SELECT enrollment_id, count(*) AS signups FROM signups
    WHERE workspace_id = $1 AND ($2::uuid IS NULL OR program_id = $2) AND reported_at >= $3 AND reported_at < $4
      AND state = 'matched' AND block_reason IS NULL GROUP BY enrollment_id),
  counted AS (
    SELECT p.enrollment_id, p.currency, ${BUYER} AS buyer, ${KEPT_MINOR} AS kept
    FROM (SELECT * FROM purchases WHERE workspace_id = $1 AND enrollment_id IS NOT NULL AND ${IS_COUNTED}
            AND purchased_at >= $3 AND purchased_at < $4) AS p
    JOIN orders o ON o.internal_id = p.order_internal_id JOIN enrollments e ON e.id = p.enrollment_id
    WHERE $2::uuid IS NULL OR e.program_id = $2)`;

const parameters = ({ workspaceId, programId, from, to }: ActivityScope, clicks: LinkClicks) => [
  workspaceId,
  programId,
  from,
  to,
  [...clicks.keys()],
  [...clicks.values()],
];

/** SQL: the revenue of the rows of `counted` that pass a condition, by currency. */
const revenueWhere = (condition: string) => `(SELECT coalesce(json_agg(json_build_object('currency', currency,
    'amount_minor', amount_minor) ORDER BY currency), '[]')
  FROM (SELECT currency, sum(kept)::bigint AS amount_minor FROM counted WHERE ${condition} GROUP BY currency) AS sums)`;

/**
 * Returns what all referrers brought: signups by the time of their report, purchases by their own. It counts what the
 * stats of each referrer count, deleted referrers included.
 *
 * @param clicks of the window, on any links
 */
export async function programActivity(
  db: Queryable,
  scope: ActivityScope,
  clicks: LinkClicks,
): Promise<ProgramActivity> {
  const { rows } = await db.query<ProgramActivity>(
    `WITH ${BROUGHT}
     SELECT (SELECT coalesce(sum(clicks), 0)::bigint FROM clicked) AS clicks,
       (SELECT coalesce(sum(signups), 0)::bigint FROM signed) AS signups,
       (SELECT count(DISTINCT buyer) FROM counted) AS buyers,
       (SELECT count(*) FROM counted) AS purchases, ${revenueWhere('true')} AS revenue`,
    parameters(scope, clicks),
  );
  const [row] = rows;
  if (!row) throw new Error('the activity of programs has no row');
  return row;
}

/**
 * Returns the referrers who brought most in a window: by revenue, then purchases, signups and clicks.
 *
 * @param values worth of one minor unit by currency, in a common one; revenue in others ranks as nothing
 */
export async function topReferrers(
  db: Queryable,
  scope: ActivityScope,
  clicks: LinkClicks,
  { values, limit }: { values: ReadonlyMap<string, number>; limit: number },
): Promise<TopReferrer[]> {
  const { rows } = await db.query<TopReferrer>(
    `WITH ${BROUGHT},
     worth AS (SELECT * FROM unnest($7::text[], $8::float8[]) AS worth (currency, factor)),
     sold AS (SELECT enrollment_id, count(*) AS purchases, count(DISTINCT buyer) AS buyers,
         sum(kept * coalesce(factor, 0)) AS value
       FROM counted LEFT JOIN worth USING (currency) GROUP BY enrollment_id),
     ranked AS (SELECT *, coalesce(value, 0) AS rank_value FROM clicked FULL JOIN signed USING (enrollment_id)
         FULL JOIN sold USING (enrollment_id))
     SELECT e.id AS enrollment_id, e.program_id, e.external_user_id, e.name, coalesce(t.clicks, 0)::bigint AS clicks,
       coalesce(t.signups, 0)::bigint AS signups, coalesce(t.buyers, 0)::bigint AS buyers,
       coalesce(t.purchases, 0)::bigint AS purchases, ${revenueWhere('enrollment_id = e.id')} AS revenue
     FROM ranked t JOIN enrollments e ON e.id = t.enrollment_id WHERE e.deleted_at IS NULL
     ORDER BY t.rank_value DESC, purchases DESC, signups DESC, clicks DESC, e.id LIMIT $9`,
    [...parameters(scope, clicks), [...values.keys()], [...values.values()], limit],
  );
  return rows;
}
