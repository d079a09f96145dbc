import { RowProblem } from '../../core/link-imports/source-row.ts';
import { dataFrom } from '../../core/time/retention.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';

/** Maximum age of a click or an order, in years. */
const OLDEST_YEARS = 20;

/** Times in microseconds. */
export type TimeLimits = { oldest: number; kept: number | null; newest: number };

/** @param now milliseconds since the epoch */
export function timeLimits(
  { retention_months: months }: Pick<Workspace, 'retention_months'>,
  now: number,
): TimeLimits {
  const date = new Date(now);
  return {
    oldest: date.setUTCFullYear(date.getUTCFullYear() - OLDEST_YEARS) * 1_000,
    kept: months === null ? null : dataFrom(months, now) * 1_000,
    newest: now * 1_000,
  };
}

/** @throws {RowProblem} for a time that a click or an order can't have */
export function requireTime(ts: number, { oldest, kept, newest }: TimeLimits): void {
  if (ts > newest) throw new RowProblem(null, 'has a time in the future');
  if (ts < oldest) throw new RowProblem(null, `has a time more than ${OLDEST_YEARS} years ago`);
  if (kept !== null && ts < kept) throw new RowProblem(null, 'is older than the workspace keeps clicks');
}
