import { textOf } from '../source-row.ts';
import { linkName } from '../values.ts';
import type { Format } from './format.ts';

/**
 * Kutt. JSON: `GET /api/v2/links` (`data` with `address`, `target`, `description`, `expire_in`, `password` as a
 * boolean, `banned`, `visit_count`; `sanitize.link` in https://github.com/thedevs-network/kutt,
 * server/utils/utils.js). CSV: its table `links` (the columns in server/queries/link.queries.js), where `password` is a
 * hash.
 */
export const kutt: Format = {
  name: 'Kutt',
  matches: ({ columns }) => columns.has('address') && columns.has('target'),
  read(row) {
    const destination = textOf(row, 'target');
    const slug = textOf(row, 'address') ?? '';
    return [
      {
        body: {
          ...(destination !== null && { destination_url: destination }),
          name: linkName(textOf(row, 'description'), destination, slug),
          slug,
        },
        columnOf: {
          destination_url: 'target',
          name: 'description',
          slug: 'address',
        },
      },
    ];
  },
};
