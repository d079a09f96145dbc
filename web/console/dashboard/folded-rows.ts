import type { Dimension, Metric } from '../../../core/analytics/dimensions.ts';
import { valueIn } from './dimensions.ts';
import type { Result, Row } from './source.ts';

/** From this share of the total on, the row without a value is folded. */
const MOST = 0.5;
/** Dimensions whose missing value has a meaning, such as visits without a referer. */
const MEANT: ReadonlySet<Dimension> = new Set(['referer_host', 'trigger', 'domain']);

type Rows = Pick<Result, 'totals' | 'rows'>;

/** Whether the row has the missing value and most of the total: its bar would make every other bar tiny. */
export function isFolded(row: Row, { totals, rows }: Rows, dimension: Dimension, metric: Metric): boolean {
  if (valueIn(row, dimension) !== null || MEANT.has(dimension) || rows.length === 1) return false;
  return (row.metrics[metric] ?? 0) > MOST * (totals[metric] ?? 0);
}

/** The rows of a list, a folded one last. */
export function foldedLast(result: Rows, dimension: Dimension, metric: Metric): Row[] {
  const isLast = (row: Row) => isFolded(row, result, dimension, metric);
  return [...result.rows.filter((row) => !isLast(row)), ...result.rows.filter(isLast)];
}
