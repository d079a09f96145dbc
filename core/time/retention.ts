/**
 * Returns where the clicks of a workspace begin, in milliseconds since the epoch: the start of the UTC month in which
 * the oldest click that is young enough may be. Clicks are removed by whole months.
 *
 * @param months `retention_months` of the workspace
 * @param now milliseconds since the epoch
 */
export function dataFrom(months: number, now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months);
}
