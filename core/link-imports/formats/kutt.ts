import { isYes, RowProblem, textOf } from '../source-row.ts';
import { instantText, linkName } from '../values.ts';
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
    if (isYes(row.columns.get('banned')?.value)) {
      throw new RowProblem('banned', 'must not be a banned link');
    }
    const destination = textOf(row, 'target');
    const slug = textOf(row, 'address') ?? '';
    const expires = textOf(row, 'expirein');
    return [
      {
        body: {
          ...(destination !== null && { destination_url: destination }),
          name: linkName(textOf(row, 'description'), destination, slug),
          slug,
          ...(expires !== null && !isNull(expires) && { expires_at: instantText(expires) }),
        },
        columnOf: {
          destination_url: 'target',
          name: 'description',
          slug: 'address',
          expires_at: 'expire_in',
        },
      },
    ];
  },
};

/** Returns whether a text is what databases write into CSV for a missing value. */
function isNull(text: string): boolean {
  return text === 'NULL' || text === '\\N';
}
