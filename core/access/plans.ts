/** Limits of a plan. Null: unlimited. */
export type PlanLimits = {
  links: number | null;
  /** Non-bot clicks, identifies and orders a month. Exceeding it drops nothing. */
  events: number | null;
  /** Commission a month, in major units of the workspace's currency. 0: no commission tracking. */
  commission: number | null;
};

export const PLAN_TIERS = ['free', 'starter', 'pro', 'business', 'unlimited'] as const;
export type PlanTier = (typeof PLAN_TIERS)[number];

const LIMITS: Record<PlanTier, PlanLimits> = {
  free: { links: 25, events: 1_000, commission: 0 },
  starter: { links: 250, events: 25_000, commission: 0 },
  pro: { links: 1_000, events: 250_000, commission: 25_000 },
  business: { links: 50_000, events: 5_000_000, commission: 250_000 },
  unlimited: { links: null, events: null, commission: null },
};

export const PLAN_NAMES: Record<PlanTier, string> = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  business: 'Business',
  unlimited: 'Unlimited',
};

/** A workspace's plan and its status. */
export type PlanState = { plan: PlanTier; plan_status: 'active' | 'trialing' | 'past_due' | 'canceled' };

/** Returns whether a workspace is on an active paid plan. */
export function isPaid({ plan, plan_status }: PlanState): boolean {
  return plan !== 'free' && (plan_status === 'active' || plan_status === 'trialing');
}

/** Returns the current limits: a plan that is no longer paid has those of the free one. */
export function limitsOf(state: PlanState): PlanLimits {
  return LIMITS[isPaid(state) ? state.plan : 'free'];
}

/** The month of usage, `[start, reset)`. */
export type UsagePeriod = { start: Date; reset: Date };

/**
 * Returns the usage period of `now`. It begins at midnight UTC on the day of the month on which the workspace was
 * created, or on the last day of a shorter month.
 */
export function usagePeriod(createdAt: Date, now: Date): UsagePeriod {
  const day = createdAt.getUTCDate();
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  const thisMonth = resetIn(year, month, day);
  return now >= thisMonth
    ? { start: thisMonth, reset: resetIn(year, month + 1, day) }
    : { start: resetIn(year, month - 1, day), reset: thisMonth };
}

function resetIn(year: number, month: number, day: number): Date {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(day, lastDay)));
}
