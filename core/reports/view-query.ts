import { type Dimension, METRICS, type Metric, OPERATORS, timeUnitOf } from '../analytics/dimensions.ts';

/** The query of a saved view: checked when it was saved, and stored as it was sent. */
export type ViewQuery = Record<string, unknown>;

const IN_MONEY: ReadonlySet<Metric> = new Set<Metric>(['revenue', 'revenue_per_click']);
const USUAL: readonly Metric[] = ['clicks', 'visitors', 'leads', 'conversions', 'revenue', 'conversion_rate'];
const USUAL_TABLES: readonly Dimension[] = ['channel', 'link', 'country'];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const addressOf = ({ address }: ViewQuery) => new URLSearchParams(typeof address === 'string' ? address : '');

/** Returns the metrics that a view shows, that of its chart first. Without revenue, none in money. */
export function metricsOfView(view: ViewQuery, showRevenue: boolean): Metric[] {
  const given = listOf(view.metrics);
  const own = METRICS.filter((metric) => given.includes(metric));
  // METRICS has an order of its own; the view's first one is that of its chart.
  const sorted = own.toSorted((one, other) => given.indexOf(one) - given.indexOf(other));
  const shown = (sorted.length > 0 ? sorted : USUAL).filter((metric) => showRevenue || !IN_MONEY.has(metric));
  const metrics: readonly Metric[] = shown.length > 0 ? shown : ['clicks'];
  const chosen = metrics.find((metric) => metric === addressOf(view).get('metric'));
  return chosen ? [chosen, ...metrics.filter((metric) => metric !== chosen)] : [...metrics];
}

/** Returns the dimensions of the top rows: those of the view, but for time. */
export function tablesOfView(view: ViewQuery): Dimension[] {
  const own = (listOf(view.dimensions) as Dimension[]).filter((name) => timeUnitOf(name) === null);
  return own.length > 0 ? own : [...USUAL_TABLES];
}

/**
 * Returns the address of a view in the console, with the days of a period.
 *
 * @param days first and last day, such as `2026-11-30`; left out: the period of the view
 */
export function urlOfView(appUrl: string, view: ViewQuery, days?: { from: string; to: string }): string {
  const search = addressOf(view);
  if (typeof view.address !== 'string') for (const filter of filtersOf(view)) search.append('f', filter);
  if (days) {
    search.delete('days');
    search.set('from', days.from);
    search.set('to', days.to);
  }
  const text = search.toString();
  return `${appUrl}/console/${text === '' ? '' : `?${text}`}`;
}

/** Filters as the console has them in its address. It has none with `any`. */
function filtersOf({ filters }: ViewQuery): string[] {
  return listOf(filters).flatMap((filter) => {
    const { dimension, operator, values } = filter as Record<string, unknown>;
    if (typeof dimension !== 'string' || !OPERATORS.some((name) => name === operator)) return [];
    const list = listOf(values).map((value) => encodeURIComponent(String(value)));
    return [`${dimension}:${operator}${list.length > 0 ? `:${list.join(',')}` : ''}`];
  });
}
