import { CLICK_SOURCES, type ClickSource } from '../../../../../core/click-imports/click-sources.ts';

/** The kind of a file: the service that exported its clicks, or `orders`, a file of orders with their own time. */
export type ClickFileKind = ClickSource | 'orders';

/** Each kind as it is shown, with the file that it needs. */
export const KINDS: Readonly<Record<ClickFileKind, { label: string; file: string }>> = {
  csv: {
    label: 'CSV or NDJSON',
    file: 'Columns: ts, and slug, short_url, or link_id; and any of country, referer, user_agent, visitor, count, and others.',
  },
  shlink: { label: 'Shlink', file: 'The visits of its API, page after page, or the CSV of its web client.' },
  yourls: { label: 'YOURLS', file: 'The table yourls_log, exported with mysql --batch.' },
  kutt: { label: 'Kutt', file: 'The table visits as CSV, with the address and domain of each link.' },
  plausible: {
    label: 'Plausible',
    file: 'imported_pages or imported_custom_events of its export: counts of a day.',
  },
  matomo: { label: 'Matomo', file: 'The response of Live.getLastVisitsDetails as JSON.' },
  orders: {
    label: 'Orders, as CSV',
    file: 'Columns: ts, order_id, amount; currency; and visitor, email, slug, or link_id. For reports alone: no commission comes of them.',
  },
};

export const KIND_CHOICES = ([...CLICK_SOURCES, 'orders'] as const).map((value) => ({
  value,
  label: KINDS[value].label,
}));

/** Returns the query of an import's request. */
export const importQuery = (kind: ClickFileKind) =>
  kind === 'orders' ? { content: 'orders' } : { from: kind };
