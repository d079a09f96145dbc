// Browsers run this file too.
import type { Metric } from './dimensions.ts';

/** Names of metrics on pages and in mails. */
export const METRIC_NAMES: Record<Metric, string> = {
  clicks: 'Clicks',
  visitors: 'Visitors',
  leads: 'Leads',
  conversions: 'Conversions',
  revenue: 'Revenue',
  conversion_rate: 'Conversion rate',
  revenue_per_click: 'Revenue per click',
};
