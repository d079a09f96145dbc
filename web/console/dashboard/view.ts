import {
  DIMENSIONS,
  type Dimension,
  METRICS,
  type Metric,
  OPERATORS,
  type Operator,
  TIME_UNITS,
  type TimeUnit,
} from '../../../core/analytics/dimensions.ts';
import { instantOfDay, type Window, windowOf } from '../parts/window.ts';

/** A condition on the clicks of a dashboard. `values` is empty for `is_empty`. */
export type Filter = { dimension: Dimension; operator: Operator; values: string[] };

/** What figures are compared with: the days of a range are both included. */
export type Comparison = { kind: 'previous' | 'none' } | { kind: 'range'; from: string; to: string };

/** What a dashboard shows. It is in the page's URL, so that a link, a reload and the back button show it again. */
export type View = {
  window: DashboardWindow;
  comparison: Comparison;
  filters: Filter[];
  /** The metric of the chart and the lists. */
  metric: Metric;
  /** Chosen size of the chart's buckets; null: one that fits the window. */
  unit: TimeUnit | null;
};

/** A time range of a page, or the last hour. */
export type DashboardWindow = Window | { kind: 'hour' };

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads a view from a page's URL; invalid parameters get their default. */
export function viewOf(search: URLSearchParams): View {
  return {
    window: search.get('days') === 'hour' ? { kind: 'hour' } : windowOf(search),
    comparison: comparisonOf(search.get('compare') ?? ''),
    filters: search.getAll('f').flatMap((text) => readFilter(text) ?? []),
    metric: METRICS.find((name) => name === search.get('metric')) ?? 'clicks',
    unit: TIME_UNITS.find((unit) => unit === search.get('by')) ?? null,
  };
}

function comparisonOf(text: string): Comparison {
  if (text === 'none') return { kind: 'none' };
  const [from = '', to = ''] = text.split('_');
  return DAY.test(from) && DAY.test(to) && from <= to ? { kind: 'range', from, to } : { kind: 'previous' };
}

/** The parameter `compare` of a comparison; null for the default. */
export function comparisonText(comparison: Comparison): string | null {
  if (comparison.kind === 'range') return `${comparison.from}_${comparison.to}`;
  return comparison.kind === 'none' ? 'none' : null;
}

/** A filter as text: `country:is:DE,AT`. Values are percent-encoded, so that they may hold commas. */
export const filterText = ({ dimension, operator, values }: Filter): string =>
  [dimension, operator, values.map(encodeURIComponent).join(',')].join(':').replace(/:$/, '');

/**
 * Reads {@link filterText}; null when the text is invalid. Dimensions of time contain a colon and can't be filtered.
 */
export function readFilter(text: string): Filter | null {
  const [name, operatorName, list = ''] = text.split(':');
  const dimension = DIMENSIONS.find((one) => one === name);
  const operator = OPERATORS.find((one) => one === operatorName);
  if (!dimension || !operator) return null;
  const values = list === '' ? [] : list.split(',').map(decoded);
  return values.length > 0 === (operator !== 'is_empty') ? { dimension, operator, values } : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The filters after a click on a value's row: it is the only one of its dimension, or the filter ends. */
export function toggled(filters: readonly Filter[], dimension: Dimension, value: string | null): Filter[] {
  const others = filters.filter((filter) => filter.dimension !== dimension || !isExact(filter));
  if (isChosen(filters, dimension, value)) return others;
  const made: Filter =
    value === null
      ? { dimension, operator: 'is_empty', values: [] }
      : { dimension, operator: 'is', values: [value] };
  return [...others, made];
}

/** Whether a filter of the dimension selects this value. */
export const isChosen = (filters: readonly Filter[], dimension: Dimension, value: string | null): boolean =>
  filters.some(
    (filter) =>
      filter.dimension === dimension &&
      (value === null
        ? filter.operator === 'is_empty'
        : filter.operator === 'is' && filter.values.includes(value)),
  );

const isExact = ({ operator }: Filter) => operator === 'is' || operator === 'is_empty';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Approximate length of a view's window. Milliseconds. */
function lengthOf(window: DashboardWindow): number {
  if (window.kind === 'hour') return HOUR_MS;
  if (window.kind === 'days') return window.days * DAY_MS;
  return Date.parse(window.to) - Date.parse(window.from) + DAY_MS;
}

/**
 * Shortest and longest window of a bucket's size: at least two buckets, and at most what one page shows. Milliseconds.
 */
const FITS: Record<TimeUnit, [least: number, most: number]> = {
  minute: [0, 12 * HOUR_MS],
  hour: [2 * HOUR_MS, 31 * DAY_MS],
  day: [2 * DAY_MS, 800 * DAY_MS],
  week: [14 * DAY_MS, 5_000 * DAY_MS],
  month: [60 * DAY_MS, 36_500 * DAY_MS],
};

/** The sizes of buckets that fit a window. */
export function unitsOf(window: DashboardWindow): TimeUnit[] {
  const length = lengthOf(window);
  return TIME_UNITS.filter((unit) => length >= FITS[unit][0] && length <= FITS[unit][1]);
}

/** The size of the chart's buckets: the chosen one, if it fits. */
export function unitOf({ window, unit }: Pick<View, 'window' | 'unit'>): TimeUnit {
  const fitting = unitsOf(window);
  const chosen = fitting.find((one) => one === unit);
  if (chosen) return chosen;
  const length = lengthOf(window);
  if (length <= HOUR_MS) return 'minute';
  if (length <= 3 * DAY_MS) return 'hour';
  return length <= 120 * DAY_MS ? 'day' : length <= 800 * DAY_MS ? 'week' : 'month';
}

/** Ends of windows are rounded up to this, so that responses can be cached. Milliseconds. */
const ROUNDED_TO = 300_000;
const MINUTE_MS = 60_000;

/** `window` of a query. */
export type QueryWindow = { days: number } | { from: string; to: string };

/** A view's window as a query has it. Days are those of the time zone. */
export function queryWindow(window: DashboardWindow, zone: string, at = new Date()): QueryWindow {
  if (window.kind === 'days') return { days: window.days };
  if (window.kind === 'hour') {
    const to = Math.ceil(at.getTime() / MINUTE_MS) * MINUTE_MS;
    return { from: new Date(to - HOUR_MS).toISOString(), to: new Date(to).toISOString() };
  }
  const now = Math.ceil(at.getTime() / ROUNDED_TO) * ROUNDED_TO;
  const { from, to } = daysBetween(window, zone);
  return { from, to: new Date(Math.min(Date.parse(to), now)).toISOString() };
}

/** `compare` of a query; undefined: none. */
export function queryComparison(comparison: Comparison, zone: string) {
  if (comparison.kind === 'range') return daysBetween(comparison, zone);
  return comparison.kind === 'previous' ? ('previous' as const) : undefined;
}

const daysBetween = ({ from, to }: { from: string; to: string }, zone: string) => ({
  from: instantOfDay(from, zone, 0).toISOString(),
  to: instantOfDay(to, zone, 1).toISOString(),
});
