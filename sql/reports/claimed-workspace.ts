import type { PlanState } from '../../core/access/plans.ts';

/** What a worker needs of the workspace whose report or alert it has claimed. */
export type ClaimedWorkspace = PlanState & {
  id: string;
  name: string;
  currency: string;
  time_zone: string | null;
  retention_months: number | null;
  isSuspended: boolean;
};

/** SQL: a {@link ClaimedWorkspace} of the workspace `w`. */
export const CLAIMED_WORKSPACE = `json_build_object('id', w.id, 'name', w.name, 'currency', w.currency,
  'time_zone', w.time_zone, 'retention_months', w.retention_months, 'plan', w.plan, 'plan_status', w.plan_status,
  'isSuspended', w.suspended_at IS NOT NULL)`;

/** SQL: milliseconds since the epoch. */
export const millis = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;
