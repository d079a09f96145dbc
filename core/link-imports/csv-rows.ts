import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { unstorableIn } from '../storable.ts';
import { formatOf } from './formats/known.ts';
import { type ReadRow, RowProblem, type SourceRow, sourceRow } from './source-row.ts';

/** A row with more characters than this is taken for a quote that is never closed. */
const ROW_LIMIT = 1_048_576;

type Parsed = { info: { lines: number }; record: string[] };

/**
 * The rows of a CSV file, whose first row names the columns. Quoted values may hold delimiters and newlines; rows may
 * end in any of the three ways. Rows without any value are passed over.
 *
 * @throws {UnknownFormat} when there is no row, and no known export has these columns: then it is any text
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  form: { delimiter: string; firstLine: number },
): AsyncGenerator<ReadRow> {
  const parser = Readable.from(withPlainNewlines(text)).pipe(
    parse({
      info: true,
      delimiter: form.delimiter,
      from_line: form.firstLine,
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: ROW_LIMIT,
    }),
  );
  let header: string[] | null = null;
  let line = form.firstLine;
  let hasRows = false;
  try {
    for await (const { info, record } of parser as AsyncIterable<Parsed>) {
      line = info.lines - newlinesIn(record);
      if (header === null) header = record.map((name) => name.trim());
      else if (record.some((value) => value.trim() !== '')) {
        hasRows = true;
        yield readRow(line, header, record);
      }
      line = info.lines + 1;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // What follows the open quote is one value to the parser: there is nothing to go on with.
    yield { line, problem: new RowProblem(null, `can not be read, and nothing after it: ${error.message}`) };
    return;
  }
  if (header !== null && !hasRows) formatOf(rowWithout(header));
}

function rowWithout(header: string[]): SourceRow {
  return sourceRow(1, Object.fromEntries(header.map((name) => [name, ''])));
}

function readRow(line: number, header: string[], record: string[]): ReadRow {
  const more = record.slice(header.length);
  if (record.length < header.length || more.some((value) => value.trim() !== '')) {
    const message = `has ${record.length} values for ${header.length} columns: quote values that hold the delimiter or a newline`;
    return { line, problem: new RowProblem(null, message) };
  }
  const values = Object.fromEntries(header.map((name, column) => [name, record[column] ?? '']));
  const unstorable = unstorableIn(values);
  if (unstorable) {
    return { line, problem: new RowProblem(unstorable.path || null, unstorable.message) };
  }
  return sourceRow(line, values);
}

function newlinesIn(record: string[]): number {
  return record.reduce((sum, value) => sum + value.split('\n').length - 1, 0);
}

/** All three kinds of newline as one: the parser counts lines wrong where several kinds are possible. */
async function* withPlainNewlines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of text) {
    const piece = held + chunk;
    // Half of a newline may stand at the end of a piece.
    held = piece.endsWith('\r') ? '\r' : '';
    yield piece.slice(0, piece.length - held.length).replaceAll(/\r\n?/g, '\n');
  }
  yield held && '\n';
}
