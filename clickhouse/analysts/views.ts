/** Tables that the views of analysts read: a workspace's rows of each, by a row policy. */
export const ANALYST_TABLES = [
  'clicks',
  'identifies',
  'orders',
  'attributed_shares',
  'deleted_links',
] as const;

const CLICK_COLUMNS = `channel, country, continent, region, city, language, device, browser, os, referer_host, domain, slug,
  trigger, utm_source, utm_medium, utm_campaign, utm_term, utm_content, ad_network, rule_id, variant_id, asn`;

/** Clicks of deleted bio buttons leave every response at once, and the tables within a day. */
const NOT_DELETED = (database: string) => `link_id NOT IN (SELECT link_id FROM ${database}.deleted_links)`;

/**
 * Returns the views of an analyst's database by name, each as its query. docs/analysts.md describes their columns.
 *
 * @param database the database of the tables
 */
export const analystViews = (database: string): Record<string, string> => ({
  clicks: `SELECT ts, link_id, visitor_id, ${CLICK_COLUMNS}, ad_click_param, ad_click_id, referer, is_bot, is_orphan
    FROM ${database}.clicks WHERE ${NOT_DELETED(database)}`,
  identifies: `SELECT ts, visitor_id, email, external_user_id FROM ${database}.identifies FINAL`,
  orders: `SELECT ts, order_id, visitor_id, email, external_user_id, amount_minor, currency
    FROM ${database}.orders FINAL`,
  attributions: `SELECT ts, order_id, link_id, ${CLICK_COLUMNS}, share, lead, amount_minor
    FROM ${database}.attributed_shares FINAL
    WHERE NOT replaced AND channel != '' AND ${NOT_DELETED(database)}`,
});
