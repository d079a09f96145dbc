const OWN = 'workspace_id = {workspace:UUID}';

/** Orders that were reported again and whose credit was shared at one time: `FINAL` replaces those of one part. */
const SHARED_AND_REPORTED_AGAIN = `SELECT order_id FROM order_credits WHERE ${OWN}
    AND order_id IN (SELECT order_id FROM order_credits WHERE ${OWN} AND part > 0)
  GROUP BY order_id HAVING min(version) < max(version)`;

/** The versions of orders that a higher one has replaced. */
const REPLACED = `SELECT order_id, arrayJoin(arrayFilter(version -> version < top, versions)) FROM (
  SELECT order_id, max(version) AS top, groupUniqArray(version) AS versions FROM order_credits
  WHERE ${OWN} AND order_id IN (${SHARED_AND_REPORTED_AGAIN}) GROUP BY order_id)`;

/**
 * The credits that count, as a subquery with `ts, order_id, link_id, channel, share, amount_minor, first_channel`: of
 * each order those of its highest version. `FINAL` alone is not enough: it picks the highest version for each part,
 * and a version with fewer parts than the one before would leave the older one's last parts standing.
 *
 * Credits to no link are among them (zero UUID, empty channel). Uses the parameter `workspace`.
 *
 * @param condition SQL on `ts`, the order's own time, or empty. It is judged on the version that stands: an order
 *   whose time moved out of a window is not in it.
 * @param hasShared whether the credit of any order of the workspace was shared; where none was, `FINAL` alone is enough
 */
export function standingCredits(condition: string, hasShared = true): string {
  return `(
    SELECT ts, order_id, link_id, channel, share, amount_minor, first_channel FROM order_credits FINAL
    WHERE ${OWN} ${condition === '' ? '' : `AND ${condition}`}
      ${hasShared ? `AND (order_id, version) NOT IN (${REPLACED})` : ''})`;
}
