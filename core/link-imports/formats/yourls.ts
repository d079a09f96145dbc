import { nameOf, textOf } from '../source-row.ts';
import { linkName, slugOfUrl } from '../values.ts';
import type { Format } from './format.ts';

/**
 * YOURLS. Either the table `yourls_url` as CSV (keyword, url, title, timestamp, ip, clicks; defined in
 * https://github.com/YOURLS/YOURLS, includes/functions-install.php), or the export of the plugin YOURLS Import Export:
 * source, target, hits, with the keyword between slashes (fileio/csv.php in
 * https://github.com/GautamGupta/YOURLS-Import-Export). JSON: `yourls-api.php?action=stats&format=json`, whose `links`
 * have `shorturl`, `url` and `title` (`yourls_get_stats` in includes/functions.php).
 */
export const yourls: Format = {
  name: 'YOURLS',
  matches: ({ columns }) =>
    (columns.has('keyword') && columns.has('url')) ||
    (columns.has('shorturl') && columns.has('url')) ||
    (columns.has('source') && columns.has('target')),
  read(row) {
    const destination = textOf(row, 'url', 'target');
    const short = textOf(row, 'shorturl');
    const slug =
      textOf(row, 'keyword', 'source')?.replaceAll(/^\/+|\/+$/g, '') ??
      (short === null ? '' : slugOfUrl(short));
    const title = textOf(row, 'title');
    const name = title === null || title === 'NULL' || title === '\\N' ? null : title;
    return [
      {
        body: {
          ...(destination !== null && { destination_url: destination }),
          name: linkName(name, destination, slug),
          slug,
        },
        columnOf: {
          destination_url: nameOf(row, 'url', 'target') ?? 'url',
          name: 'title',
          slug: nameOf(row, 'keyword', 'source', 'shorturl') ?? 'keyword',
        },
      },
    ];
  },
};
