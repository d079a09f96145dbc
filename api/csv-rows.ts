import { Readable } from 'node:stream';
import { csvLines } from '../core/text/csv-text.ts';
import { BYTE_ORDER_MARK } from './byte-order-mark.ts';
import type { FastifyReply } from './dependencies.ts';
import { OneOf } from './schemas.ts';

/** Rows read from PostgreSQL at a time for a file. */
export const CSV_CHUNK = 500;

/** The format of a list that is also a file. */
export const ListFormat = OneOf(['json', 'csv'], {
  default: 'json',
  description:
    "`csv`: a file of every row that passes the filters, newest first; `limit` and `cursor` have no effect. A text that begins as a formula gets a leading `'`. A transfer that breaks off is incomplete: retry it.",
});

/** A response that is a page as JSON, or with `format=csv` a file. */
export const pageOrCsv = (page: object) => ({
  description: 'A page as JSON, or with `format=csv` all rows as a file.',
  content: { 'application/json': { schema: page }, 'text/csv': { schema: { type: 'string' } } },
});

type Pages<Row, Cursor> = (before: Cursor | null) => Promise<{ rows: Row[]; next: Cursor | null }>;

/**
 * Sends the rows of all pages as CSV, while they are read.
 *
 * @param columns the heading and the text of each column; texts of people go through `textCell`
 */
export async function sendCsv<Row, Cursor>(
  reply: FastifyReply,
  file: { name: string; bom: string; columns: readonly [string, (row: Row) => string][] },
  pageBefore: Pages<Row, Cursor>,
): Promise<never> {
  // A read that fails before the first byte gives an error, not a broken file.
  const first = await pageBefore(null);
  const { name, bom, columns } = file;
  async function* lines(): AsyncGenerator<string> {
    const head = csvLines([columns.map(([heading]) => heading)]);
    yield bom === '1' ? `${BYTE_ORDER_MARK}${head}` : head;
    for (let page = first; ; page = await pageBefore(page.next)) {
      yield csvLines(page.rows.map((row) => columns.map(([, cell]) => cell(row))));
      if (page.next === null) return;
    }
  }
  // The declared type of the response is that of JSON.
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(Readable.from(lines())) as never;
}
