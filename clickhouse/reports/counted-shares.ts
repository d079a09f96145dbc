import { CREDITED_TEXTS } from '../../core/analytics/dimensions.ts';

const CLICK_COLUMNS = [...CREDITED_TEXTS, 'asn'].join(', ');

/**
 * The table and the condition of {@link countedShares}. A query of few columns is planned faster over them than over a
 * subquery with all columns.
 */
export const COUNTED_SHARES = {
  table: 'attributed_shares FINAL',
  condition: 'workspace_id = {workspace:UUID} AND NOT replaced',
} as const;

/**
 * Returns the attributed shares that count as a subquery: `ts, link_id, channel` and the other dimensions of the
 * credited click, `share, lead, amount_minor, first_channel, first_bio_links, first_other_channel`. These are the
 * shares of the highest version of each order. A writer of a version marks the shares of earlier ones as replaced, and
 * `FINAL` applies the marks. Needs the parameter `workspace`.
 *
 * Shares of no link are among them (zero UUID, empty channel).
 *
 * @param condition SQL on `ts`, the order's time, or empty. An order whose time moved out of a window is not in it.
 */
export function countedShares(condition: string): string {
  return `(
    SELECT ts, link_id, channel, ${CLICK_COLUMNS}, share, lead, amount_minor, first_channel, first_bio_links, first_other_channel
    FROM ${COUNTED_SHARES.table}
    WHERE ${COUNTED_SHARES.condition} ${condition === '' ? '' : `AND ${condition}`})`;
}
