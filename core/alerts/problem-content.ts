/** Kinds of problems that owners are told of by mail. The others are shown in the console alone: nothing broke. */
const TOLD_PROBLEMS = [
  'clicks_lost',
  'dead_letters',
  'webhook_disabled',
  'webhook_failing',
  'domain_failing',
  'destination_failing',
  'connection_refused',
  'connection_failed',
  'fulfilment_failing',
  'orders_without_rate',
  'purchases_without_rate',
  'payout_waiting',
  'plan_limit_near',
] as const;
export type ToldProblemKind = (typeof TOLD_PROBLEMS)[number];

export const isTold = (kind: string): kind is ToldProblemKind =>
  (TOLD_PROBLEMS as readonly string[]).includes(kind);

/** Limits of a plan that may be near. */
export const PLAN_LIMITS = ['links', 'events', 'commission'] as const;
export type PlanLimit = (typeof PLAN_LIMITS)[number];

/** Part of a limit from which it counts as near. */
export const NEAR_LIMIT = 0.8;

/** A problem that owners are told of. */
export type ToldProblem = {
  kind: ToldProblemKind;
  /** As in the list of problems. Of a plan's limit, its name. */
  name: string | null;
  /** How many records are affected. Of a plan's limit: percent of it. */
  count: number | null;
  reason: string | null;
  /** ISO 8601. */
  since: string;
};

/** The facts of a mail about problems that began or ended since the last check. */
export type ProblemContent = {
  kind: 'problem';
  began: ToldProblem[];
  ended: ToldProblem[];
  /** The console's page of problems. */
  url: string;
};
