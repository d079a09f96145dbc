import { delimitedRows } from '../link-imports/delimited.ts';
import { jsonRows } from '../link-imports/json-rows.ts';
import { parsedJson } from '../link-imports/parsed-json.ts';
import { repetitionIn } from '../link-imports/repeated-names.ts';
import { columnKey, namedValues, RowProblem, SEVERAL_VALUES } from '../link-imports/source-row.ts';
import type { TextForm } from '../link-imports/text-form.ts';
import { type FileColumns, ImportRow } from './import-row.ts';

/** A row of a file of clicks, or the mistake at its place. */
export type ReadClickRow = ImportRow | { line: number; problem: RowProblem };

/** Characters of a line of NDJSON. */
const LINE_LIMIT = 65_536;

/**
 * Yields the rows of a file: CSV whose first row names the columns, JSON lines, or JSON with lists of objects, as an
 * API responds.
 *
 * @param isRow whether an object of JSON is a row, by its names (`columnKey`)
 */
export async function* clickFileRows(
  text: AsyncIterable<string>,
  form: TextForm,
  columns: FileColumns,
  isRow: (keys: ReadonlySet<string>) => boolean,
): AsyncGenerator<ReadClickRow> {
  if (form.kind === 'csv') yield* csvClicks(text, form, columns);
  else yield* jsonClicks(text, columns, isRow);
}

async function* csvClicks(
  text: AsyncIterable<string>,
  form: Extract<TextForm, { kind: 'csv' }>,
  columns: FileColumns,
): AsyncGenerator<ReadClickRow> {
  let keys: string[] | null = null;
  let header: string[] = [];
  for await (const row of delimitedRows(text, form)) {
    if ('problem' in row) {
      yield { line: row.line, problem: new RowProblem(null, row.problem) };
      if (keys === null) return; // without names of columns nothing can be read
      continue;
    }
    const { values } = row;
    if (values.length === 1 && values[0]?.trim() === '') continue;
    if (keys === null) {
      header = values.map((name) => name.replace(/^\uFEFF/, '').trim());
      keys = header.map((name) => columns.keyOf(name));
      continue;
    }
    if (values.length !== keys.length && !isPadded(values, keys.length)) {
      const message = `has ${values.length} values for ${keys.length} columns: quote values that hold the delimiter or a newline`;
      yield { line: row.line, problem: new RowProblem(null, message) };
      continue;
    }
    const named = new Map<string, unknown>();
    for (let n = 0; n < keys.length; n++) {
      const [key, value] = [keys[n] ?? '', values[n] ?? ''];
      if (!named.has(key) || value.trim() !== '') named.set(key, value);
    }
    // Only some files have a column twice, and most have a million rows.
    const { contradiction } = named.size < keys.length ? namedValues(header, values, columnKey) : ONCE;
    if (contradiction) yield { line: row.line, problem: contradiction };
    else yield new ImportRow(row.line, columns, named);
  }
}

const ONCE = { contradiction: null };

/** Spreadsheets add empty cells. */
const isPadded = (values: readonly string[], columns: number): boolean =>
  values.length > columns && values.slice(columns).every((value) => value.trim() === '');

async function* jsonClicks(
  text: AsyncIterable<string>,
  columns: FileColumns,
  isRow: (keys: ReadonlySet<string>) => boolean,
): AsyncGenerator<ReadClickRow> {
  const pieces = text[Symbol.asyncIterator]();
  let head = '';
  while (!head.trimStart().includes('\n') && head.length < LINE_LIMIT) {
    const { value, done } = await pieces.next();
    if (done) break;
    head += value;
  }
  const rest = (async function* () {
    yield head;
    yield* { [Symbol.asyncIterator]: () => pieces };
  })();
  const ofJson = (line: number, values: Record<string, unknown>): ReadClickRow => {
    const named = new Map<string, unknown>();
    for (const [name, value] of Object.entries(values)) {
      const key = columns.keyOf(name);
      const before = named.get(key);
      if (before !== undefined && before !== null && before !== value && value !== null) {
        return { line, problem: new RowProblem(name, SEVERAL_VALUES) };
      }
      named.set(key, value ?? before);
    }
    return new ImportRow(line, columns, named);
  };
  const keysOf = (values: Record<string, unknown>) => new Set(Object.keys(values).map(columnKey));

  if (beginsWithRow(head, (values) => isRow(keysOf(values)))) {
    yield* lines(rest, ofJson);
    return;
  }
  const nested = jsonRows(rest, (values) => isRow(keysOf(values)));
  for await (const row of nested) {
    if ('problem' in row) yield row;
    else if (row.contradiction) yield { line: row.line, problem: row.contradiction };
    else yield ofJson(row.line, row.values);
  }
}

/** Returns whether the first line alone is a row: then the file has one row on each line. */
function beginsWithRow(head: string, isRow: (values: Record<string, unknown>) => boolean): boolean {
  const [first = ''] = head.trimStart().split('\n', 1);
  try {
    const value: unknown = JSON.parse(first);
    return isObject(value) && isRow(value);
  } catch {
    return false;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function* lines(
  text: AsyncIterable<string>,
  ofJson: (line: number, values: Record<string, unknown>) => ReadClickRow,
): AsyncGenerator<ReadClickRow> {
  let line = 0;
  let held = '';
  function* read(whole: readonly string[]): Generator<ReadClickRow> {
    for (const one of whole) {
      line += 1;
      if (one.trim() !== '') yield rowOf(line, one, ofJson);
    }
  }
  for await (const piece of text) {
    const found = (held + piece).split('\n');
    held = found.pop() ?? '';
    if (held.length > LINE_LIMIT) held = held.slice(0, LINE_LIMIT + 1);
    yield* read(found);
  }
  yield* read([held]);
}

function rowOf(
  line: number,
  text: string,
  ofJson: (line: number, values: Record<string, unknown>) => ReadClickRow,
): ReadClickRow {
  try {
    if (text.length > LINE_LIMIT) throw new RowProblem(null, `must be at most ${LINE_LIMIT} characters`);
    const value = parsedJson(text, null);
    if (!isObject(value)) throw new RowProblem(null, 'must be an object');
    const problem = repetitionIn(text, value);
    return problem ? { line, problem } : ofJson(line, value);
  } catch (error) {
    if (error instanceof RowProblem) return { line, problem: error };
    throw error;
  }
}
