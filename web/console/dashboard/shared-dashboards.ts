import type { ResponseOf } from '../api/responses.ts';

/** Where shared dashboards are read, made and changed. */
export const SHARED_PATH = '/shared-dashboards';

export type SharedDashboards = ResponseOf<'/shared-dashboards'>;
export type SharedDashboard = SharedDashboards['shared_dashboards'][number];

/** Parameters of a view that a shared dashboard reads as the console's dashboard does. */
const VIEW_PARAMETERS = ['days', 'from', 'to', 'compare', 'f', 'metric', 'by'];

/**
 * Returns the address of a shared dashboard that opens with the view of the page: period, comparison, filters, and
 * metric. Revenue is left out where the dashboard does not show it.
 *
 * @param search parameters of the page
 */
export function addressWithView(
  { url, show_revenue }: Pick<SharedDashboard, 'url' | 'show_revenue'>,
  search: URLSearchParams,
): string {
  const address = new URL(url);
  for (const [name, value] of search) {
    const isHidden = name === 'metric' && value === 'revenue' && !show_revenue;
    if (VIEW_PARAMETERS.includes(name) && !isHidden) address.searchParams.append(name, value);
  }
  return address.href;
}
