/**
 * The credits that count, as a subquery with `ts, link_id, channel, share, amount_minor, first_channel, first_bio_links,
 * first_other_channel`: of each order those of its highest version, because the worker that writes a version says of the earlier
 * ones that they count no more. `FINAL` puts both together; the rows are sorted by time, so it has little to compare.
 *
 * Credits to no link are among them (zero UUID, empty channel). Uses the parameter `workspace`.
 *
 * @param condition SQL on `ts`, the order's own time, or empty. An order whose time moved out of a window is not in it.
 */
export function standingCredits(condition: string): string {
  return `(
    SELECT ts, link_id, channel, share, amount_minor, first_channel, first_bio_links, first_other_channel
    FROM attributed_shares FINAL
    WHERE workspace_id = {workspace:UUID} ${condition === '' ? '' : `AND ${condition}`} AND NOT replaced)`;
}
