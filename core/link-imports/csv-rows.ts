import { unstorableIn } from '../text/storable.ts';
import { delimitedRows } from './delimited.ts';
import { formatOf } from './formats/known.ts';
import { namedValues, type ReadRow, RowProblem, type SourceRow, sourceRow } from './source-row.ts';

/**
 * Yields the rows of a CSV file, whose first row names the columns. Between commas or semicolons quoted values may have
 * delimiters and newlines; all three kinds of newline are accepted. Empty rows are skipped.
 *
 * @throws {UnknownFormat} when there is no row, and no known export has these columns: the file is plain text
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  form: { delimiter: string; firstLine: number },
): AsyncGenerator<ReadRow> {
  let header: string[] | null = null;
  let hasRows = false;
  for await (const row of delimitedRows(text, form)) {
    if ('problem' in row) {
      yield { line: row.line, problem: new RowProblem(null, row.problem) };
      if (header === null) return; // without names of columns nothing can be read
      hasRows = true;
    } else if (header !== null) {
      if (row.values.every((value) => value.trim() === '')) continue;
      hasRows = true;
      yield readRow(row.line, header, row.values);
    } else if (row.values.length > 1 || row.values[0] !== '') {
      header = row.values.map((name) => name.trim());
    }
  }
  if (header !== null && !hasRows) formatOf(rowWithout(header));
}

function rowWithout(header: string[]): SourceRow {
  return sourceRow('csv', 1, Object.fromEntries(header.map((name) => [name, ''])));
}

function readRow(line: number, header: string[], values: string[]): ReadRow {
  const more = values.slice(header.length);
  if (values.length < header.length || more.some((value) => value.trim() !== '')) {
    const message = `has ${values.length} values for ${header.length} columns: quote values that hold the delimiter or a newline`;
    return { line, problem: new RowProblem(null, message) };
  }
  const { named, contradiction } = namedValues(header, values);
  const unstorable = unstorableIn(named);
  if (unstorable) {
    return { line, problem: new RowProblem(unstorable.path || null, unstorable.message) };
  }
  return sourceRow('csv', line, named, contradiction);
}
