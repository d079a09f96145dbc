import { NOTHING_KNOWN } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';
import { countOf, linkByUrl, timeOf } from '../values.ts';
import type { ClickFormat } from './format.ts';

/**
 * Plausible: of its export the files `imported_pages_….csv` (date, hostname, page, visits, visitors, pageviews) and
 * `imported_custom_events_….csv` (date, name, link_url, path, visitors, events), whose clicks on outbound and cloaked
 * links may be on short links (docs/csv-import.md in https://github.com/plausible/docs). A row is a count of a day. The
 * other files don't say which page was visited.
 */
export const plausible: ClickFormat = {
  name: 'Plausible',
  grows: true,
  needs: [['date'], ['page', 'linkurl']],
  hint: 'it does not say which page was visited: use imported_pages_….csv of the export',
  read(row) {
    const isEvent = row.text('linkurl') !== '' || row.text('events') !== '';
    if (isEvent && !CLICK_EVENTS.has(row.text('name'))) return [];
    const address = isEvent ? row.text('linkurl') : pageOf(row);
    const count = isEvent ? countOf(row, 'events') : countOf(row, 'pageviews');
    if (count === null || count === 0) return [];
    const sourceId = [row.text('name'), address, ...(isEvent ? [row.text('path')] : [])].join(' ');
    return [{ ...NOTHING_KNOWN, ts: timeOf(row, 'date'), link: linkByUrl(address), count, sourceId }];
  },
};

const CLICK_EVENTS: ReadonlySet<string> = new Set(['Outbound Link: Click', 'Cloaked Link: Click']);

function pageOf(row: ImportRow): string {
  const [host, page] = [row.text('hostname'), row.text('page')];
  return host === '' ? page : `https://${host}${page}`;
}
