import { nameOf, textOf } from '../source-row.ts';
import { linkName, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

/**
 * Rebrandly. JSON: `GET /v1/links` (`destination`, `slashtag`, `title`, `tags`;
 * https://developers.rebrandly.com/docs/create-a-new-link). CSV: the same names as columns.
 */
export const rebrandly: Format = {
  name: 'Rebrandly',
  matches: ({ columns }) => columns.has('slashtag') && columns.has('destination'),
  read(row) {
    const destination = textOf(row, 'destination');
    const slug = textOf(row, 'slashtag') ?? '';
    return [
      {
        body: {
          ...(destination !== null && { destination_url: destination }),
          name: linkName(textOf(row, 'title'), destination, slug),
          slug,
          tags: tagsOf(row.columns.get('tags')?.value),
        },
        columnOf: {
          destination_url: nameOf(row, 'destination') ?? 'destination',
          name: nameOf(row, 'title') ?? 'title',
          slug: nameOf(row, 'slashtag') ?? 'slashtag',
        },
      },
    ];
  },
};
