import type { BlockReason } from '../../core/referrals/terms.ts';
import { conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { REFERRER_NAMES, type ReferrerNames } from './enrollments.ts';
import type { Signup } from './signups.ts';

/** A signup with its referrer. */
export type ListedSignup = ReferrerNames & {
  id: string;
  external_user_id: string;
  email: string | null;
  state: Signup['state'];
  rewards_held: boolean;
  by_server: boolean;
  program_id: string | null;
  /** The referrer; null while pending. */
  enrollment_id: string | null;
  referrer_external_user_id: string | null;
  block_reason: BlockReason | null;
  reported_at: string;
  /** What the user's purchases brought less refunds, by currency, in minor units. */
  lifetime_minor: Record<string, number>;
};

export type SignupFilter = {
  id?: string;
  programId: string | null;
  enrollmentId: string | null;
  blocked: boolean | null;
  blockReason: BlockReason | null;
  /** `held`: also a matched one whose rewards are under review. Null: all but `unmatched`. */
  status: Signup['state'] | null;
  /** Part of the user's id or email, case-insensitive. */
  search: string | null;
  /** A signup's id: only those reported before it. */
  before: string | null;
  limit: number;
};

/** Returns the signups of a workspace that pass the filter, newest first. */
export async function listSignups(
  db: Queryable,
  workspaceId: string,
  filter: SignupFilter,
): Promise<ListedSignup[]> {
  const { add, addFixed, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `s.id = ${p}`, filter.id ?? null);
  add((p) => `s.program_id = ${p}`, filter.programId);
  add((p) => `s.enrollment_id = ${p}`, filter.enrollmentId);
  // Not a parameter: the planner must see it to use the index of blocked signups.
  if (filter.blocked !== null) addFixed(`s.block_reason IS ${filter.blocked ? 'NOT NULL' : 'NULL'}`);
  add((p) => `s.block_reason = ${p}`, filter.blockReason);
  if (filter.status === null) addFixed(`s.state <> 'unmatched'`);
  // Not a parameter, for the index of signups under review.
  else if (filter.status === 'held') addFixed(`(s.state = 'held' OR s.rewards_held)`);
  else add((p) => `s.state = ${p} AND NOT s.rewards_held`, filter.status);
  add(
    (p) => `position(lower(${p}) in lower(concat_ws(chr(10), s.external_user_id, s.email))) > 0`,
    filter.search,
  );
  add((p) => `s.id < ${p}`, filter.before);
  const { rows } = await db.query<ListedSignup>(
    `SELECT s.id, s.external_user_id, s.email, s.state, s.rewards_held, s.by_server, s.program_id, s.enrollment_id,
       e.external_user_id AS referrer_external_user_id, ${REFERRER_NAMES}, s.block_reason,
       ${isoMicros('s.reported_at')} AS reported_at,
       (SELECT coalesce(jsonb_object_agg(currency, minor), '{}') FROM (
          SELECT p.currency, sum(p.amount_minor - coalesce((SELECT sum(r.amount_minor) FROM refunds r
            WHERE r.order_internal_id = p.order_internal_id), 0))::bigint AS minor
          FROM purchases p WHERE p.workspace_id = s.workspace_id AND p.external_user_id = s.external_user_id
          GROUP BY p.currency) AS brought) AS lifetime_minor
     FROM signups s LEFT JOIN enrollments e ON e.id = s.enrollment_id
     WHERE s.workspace_id = $1${text()} ORDER BY s.id DESC LIMIT ${parameter(filter.limit)}`,
    values,
  );
  return rows;
}
