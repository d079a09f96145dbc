import { CLICK_NAMES, clickField } from '../../core/clicks/field-names.ts';

/** Tables that the views of analysts read: a workspace's rows of each, by a row policy. */
export const ANALYST_TABLES = [
  'clicks',
  'identifies',
  'orders',
  'attributed_shares',
  'deleted_links',
] as const;

/** Columns of a click that an attribution has too. */
export const CLICK_COLUMNS = CLICK_NAMES.filter((name) => clickField(name).dimension !== undefined);
/** The other columns of a click. */
const OWN_COLUMNS = CLICK_NAMES.filter((name) => !CLICK_COLUMNS.includes(name));

/** Clicks of deleted bio buttons leave every response at once, and the tables within a day. */
const NOT_DELETED = (database: string) => `link_id NOT IN (SELECT link_id FROM ${database}.deleted_links)`;

/**
 * Returns the views of an analyst's database by name, each as its query. docs/analysts.md describes their columns.
 *
 * @param database the database of the tables
 */
export const analystViews = (database: string): Record<string, string> => ({
  clicks: `SELECT ts, ${[...CLICK_COLUMNS, ...OWN_COLUMNS].join(', ')}, is_orphan
    FROM ${database}.clicks WHERE ${NOT_DELETED(database)}`,
  identifies: `SELECT ts, visitor_id, email, external_user_id FROM ${database}.identifies FINAL`,
  orders: `SELECT ts, order_id, visitor_id, email, external_user_id, amount_minor, currency, imported
    FROM ${database}.orders FINAL`,
  attributions: `SELECT ts, order_id, link_id, ${CLICK_COLUMNS.join(', ')}, share, lead, amount_minor
    FROM ${database}.attributed_shares FINAL
    WHERE NOT replaced AND channel != '' AND ${NOT_DELETED(database)}`,
});
