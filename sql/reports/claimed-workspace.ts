import type { PlanState } from '../../core/access/plans.ts';
import type { Language } from '../../core/languages/languages.ts';

/** What a worker needs of the workspace whose report or alert it has claimed. */
export type ClaimedWorkspace = PlanState & {
  id: string;
  name: string;
  currency: string;
  time_zone: string | null;
  /** Of reports and alerts; null: English. */
  language: Language | null;
  retention_months: number | null;
  isSuspended: boolean;
};

/** SQL: a {@link ClaimedWorkspace} of the workspace `w`. */
export const CLAIMED_WORKSPACE = `json_build_object('id', w.id, 'name', w.name, 'currency', w.currency,
  'time_zone', w.time_zone, 'language', w.language, 'retention_months', w.retention_months, 'plan', w.plan, 'plan_status', w.plan_status,
  'isSuspended', w.suspended_at IS NOT NULL)`;

/** SQL: milliseconds since the epoch. */
export const millis = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

/** SQL: the instant of a parameter in milliseconds since the epoch. */
export const instantOf = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/**
 * SQL, to begin a statement: `claimed`, the rows that are due, which no other worker claims until the lease ends. Its
 * parameters: `$1` the time, `$2` the lease, both milliseconds; `$3` most rows.
 *
 * @param table with `due_at`
 * @param id its primary key
 */
export const withClaimed = (table: 'reports' | 'alerts' | 'problem_checks', id = 'id'): string =>
  `WITH due AS MATERIALIZED (
     SELECT ${id} FROM ${table} WHERE due_at <= ${instantOf('$1')}
     ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
   ), claimed AS (
     UPDATE ${table} SET due_at = ${instantOf('($1::float8 + $2)')} FROM due WHERE ${table}.${id} = due.${id}
     RETURNING ${table}.*
   )`;
