import type { Dimension, Metric, TimeUnit } from '../analytics/dimensions.ts';
import type { Schedule } from './schedule.ts';

/** Figures of a window, by metric. Null: there is nothing to divide by. */
export type ReportFigures = Partial<Record<Metric, number | null>>;

/** The facts of a report of one period. */
export type ReportContent = {
  kind: 'report';
  name: string;
  every: Schedule['every'];
  /** First and last day of the period, such as `2026-11-30`. */
  from: string;
  to: string;
  timeZone: string;
  /** ISO 4217 code. */
  currency: string;
  /** Metrics of the view. The chart and the tables show the first one. */
  metrics: Metric[];
  totals: ReportFigures;
  before: ReportFigures;
  /** The first metric over time, and in the period before. */
  chart: { unit: TimeUnit; values: number[]; before: number[] };
  tables: {
    dimension: Dimension;
    rows: { name: string | null; value: number | null; before: number | null }[];
  }[];
  /** The view in the console. */
  url: string;
  /** Whether somebody requested it now: the period's own sending is another one. */
  isRequested: boolean;
};
