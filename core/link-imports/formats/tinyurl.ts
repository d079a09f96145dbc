import { nameOf, textOf } from '../source-row.ts';
import { defined, linkName, slugOfUrl, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

/**
 * TinyURL. JSON: `GET https://api.tinyurl.com/urls/available` (`data` with `alias`, `tiny_url`, `url`, `tags`,
 * `expires_at`, `archived`, `description`; https://tinyurl.com/app/dev). CSV: the same names as columns.
 */
export const tinyurl: Format = {
  name: 'TinyURL',
  matches: ({ columns }) => columns.has('tinyurl') && (columns.has('url') || columns.has('longurl')),
  read(row) {
    const destination = textOf(row, 'url', 'longurl');
    const slug = textOf(row, 'alias') ?? slugOfUrl(textOf(row, 'tinyurl') ?? '');
    return [
      {
        body: defined({
          destination_url: destination,
          name: linkName(textOf(row, 'description'), destination, slug),
          slug,
          tags: tagsOf(row.columns.get('tags')?.value),
        }),
        columnOf: {
          destination_url: nameOf(row, 'url', 'longurl') ?? 'url',
          name: 'description',
          slug: nameOf(row, 'alias', 'tinyurl') ?? 'alias',
        },
      },
    ];
  },
};
