const STEPS = [
  ['clicks', 'Clicks'],
  ['leads', 'Leads'],
  ['conversions', 'Conversions'],
] as const;

/** Returns the steps of the funnel. Where orders came without leads, they are a part of the clicks. */
export const funnelSteps = (totals: { leads?: number | null; conversions?: number | null }) =>
  STEPS.filter(([metric]) => metric !== 'leads' || Boolean(totals.leads) || !totals.conversions);
