import { nameOf, textOf } from '../source-row.ts';
import { linkName, tagsOf } from '../values.ts';
import type { Format } from './format.ts';
import { shlinkRules } from './shlink-rules.ts';

/**
 * Shlink. CSV: the web client's export (createdAt, domain, shortCode, shortUrl, longUrl, title, tags, visits, with
 * tags separated by bars; src/short-urls/helpers/ExportShortUrlsBtn.tsx in
 * https://github.com/shlinkio/shlink-web-component), or the form that Shlink itself imports (Long URL, Short code,
 * Title, Tags; https://github.com/shlinkio/shlink-importer). JSON: `GET /rest/v3/short-urls` (`shortUrls.data`, with
 * `meta.validSince`, `meta.validUntil` and `meta.maxVisits`), each with its `redirectRules` if you add them.
 */
export const shlink: Format = {
  name: 'Shlink',
  matches: ({ columns }) => columns.has('shortcode') && columns.has('longurl'),
  read(row) {
    const destination = textOf(row, 'longurl');
    const slug = textOf(row, 'shortcode') ?? '';
    const rules = shlinkRules(row.columns.get('redirectrules')?.value);
    return [
      {
        body: {
          ...(destination !== null && { destination_url: destination }),
          name: linkName(textOf(row, 'title'), destination, slug),
          slug,
          tags: tagsOf(row.columns.get('tags')?.value),
          ...(rules !== null && { rules }),
        },
        columnOf: {
          destination_url: nameOf(row, 'longurl') ?? 'longUrl',
          name: nameOf(row, 'title') ?? 'title',
          slug: nameOf(row, 'shortcode') ?? 'shortCode',
          rules: 'redirectRules',
        },
      },
    ];
  },
};
