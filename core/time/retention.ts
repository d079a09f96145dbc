/**
 * Returns the start of a workspace's retained clicks, in milliseconds since the epoch: the start of the UTC month of
 * the oldest click within the retention. Clicks are removed by whole months.
 *
 * @param months `retention_months` of the workspace
 * @param now milliseconds since the epoch
 */
export function dataFrom(months: number, now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months);
}
