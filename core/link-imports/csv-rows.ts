import { promisify } from 'node:util';
import { CsvError, parse } from 'csv-parse';
import { unstorableIn } from '../text/storable.ts';
import { formatOf } from './formats/known.ts';
import { type ReadRow, RowProblem, type SourceRow, sourceRow } from './source-row.ts';

/** A row with more characters is treated as a quote that is never closed. */
const ROW_LIMIT = 1_048_576;

type Parsed = { record: string[]; lastLine: number };
type Done = (error?: Error | null) => void;

/**
 * Yields the rows of a CSV file, whose first row names the columns. Quoted values may have delimiters and newlines;
 * all three kinds of newline are accepted. Empty rows are skipped.
 *
 * @throws {UnknownFormat} when there is no row, and no known export has these columns: the file is plain text
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  form: { delimiter: string; firstLine: number },
): AsyncGenerator<ReadRow> {
  let header: string[] | null = null;
  let next = form.firstLine;
  let hasRows = false;
  for await (const step of records(withPlainNewlines(text), form)) {
    if (step instanceof CsvError) {
      // For the parser, everything behind the open quote is one value: the file can't be read any further.
      const message = `cannot be read, and nothing after it: ${reasonOf(step)}`;
      yield { line: next, problem: new RowProblem(null, message) };
      return;
    }
    const { record, lastLine } = step;
    const line = lastLine - newlinesIn(record);
    next = lastLine + 1;
    if (header !== null) {
      if (record.every((value) => value.trim() === '')) continue;
      hasRows = true;
      yield readRow(line, header, record);
    } else if (record.length > 1 || record[0] !== '') {
      header = record.map((name) => name.trim());
    }
  }
  if (header !== null && !hasRows) formatOf(rowWithout(header));
}

/**
 * Yields the records of a text, empty lines included, and then the error that ended it, if any. As a stream, the
 * parser would drop records that precede an error.
 */
async function* records(
  text: AsyncIterable<string>,
  form: { delimiter: string; firstLine: number },
): AsyncGenerator<Parsed | CsvError> {
  let read: Parsed[] = [];
  const parser = parse({
    delimiter: form.delimiter,
    from_line: form.firstLine,
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: ROW_LIMIT,
    on_record: (record, { lines: lastLine }) => {
      read.push({ record, lastLine });
      return null; // the stream gets none
    },
  });
  parser.on('error', () => undefined); // the writer gets the error
  const write = promisify((piece: string, done: Done) => parser.write(piece, done));
  const end = promisify((done: Done) => parser.end(done));
  const taken = (): Parsed[] => {
    const all = read;
    read = [];
    return all;
  };
  try {
    for await (const piece of text) {
      await write(piece);
      yield* taken();
    }
    await end();
    yield* taken();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield* taken();
    yield error;
  }
}

function rowWithout(header: string[]): SourceRow {
  return sourceRow('csv', 1, Object.fromEntries(header.map((name) => [name, ''])));
}

/** The parser's message names the line where it stopped, which is not the line of the mistake. */
function reasonOf(error: CsvError): string {
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed';
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return `it has more than ${ROW_LIMIT} characters, as where a quote is not closed`;
  }
  return error.message;
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
  return sourceRow('csv', line, values);
}

function newlinesIn(record: string[]): number {
  return record.reduce((sum, value) => sum + value.split('\n').length - 1, 0);
}

/** Converts all newlines to one kind: the parser counts lines wrong where several are possible. */
async function* withPlainNewlines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of text) {
    const piece = held + chunk;
    held = piece.endsWith('\r') ? '\r' : '';
    yield piece.slice(0, piece.length - held.length).replaceAll(/\r\n?/g, '\n');
  }
  yield held && '\n';
}
