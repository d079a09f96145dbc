// Browsers run this file too.
/** A mistake in a row of the file. The import continues. */
export class RowProblem extends Error {
  override name = 'RowProblem';
  readonly column: string | null;

  /** @param column the file's name of the column; null: the row as a whole */
  constructor(column: string | null, message: string) {
    super(message);
    this.column = column;
  }
}

/** A row of an export: a line of CSV, or an object of JSON. */
export type SourceRow = {
  /** Line of the file on which the row begins, from 1. */
  line: number;
  from: 'csv' | 'json';
  /** Values by the file's own names of columns. */
  values: Record<string, unknown>;
  /** The file's name and value of a column, by {@link columnKey}. Remembers which were read. */
  columns: ReadColumns;
  /** The row has a column or a key twice, with values that differ. */
  contradiction: RowProblem | null;
};

type Column = { name: string; value: unknown };

/** The columns of a row. `read` has those that `get` has looked up; the others are not taken over. */
class ReadColumns extends Map<string, Column> {
  readonly read = new Set<string>();
  /** Columns that were read, and whose value has no counterpart here. */
  readonly left = new Set<string>();
  /** Paths of values that were read inside of objects, by the column. */
  readonly inside = new Map<string, Set<string>>();

  /** Returns a column, and does not count it as read. */
  peek(key: string): Column | undefined {
    return super.get(key);
  }

  /** Remembers that one value of a column that is an object was read. */
  readInside(name: string, path: string): void {
    const key = columnKey(name);
    const paths = this.inside.get(key) ?? new Set();
    this.inside.set(key, paths.add(path));
  }

  override get(key: string): Column | undefined {
    this.read.add(key);
    return super.get(key);
  }
}

/** A row, or the mistake at its place. */
export type ReadRow = SourceRow | { line: number; problem: RowProblem };

/** Returns a column's name for comparison, without case, blanks and punctuation: `Short link` is `shortLink`. */
export function columnKey(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}.]/gu, '');
}

export function sourceRow(
  from: SourceRow['from'],
  line: number,
  values: Record<string, unknown>,
  contradiction: RowProblem | null = null,
): SourceRow {
  const columns = new ReadColumns();
  for (const [name, value] of Object.entries(values)) {
    const key = columnKey(name);
    const before = columns.peek(key);
    if (before === undefined || (isEmpty(before.value) && !isEmpty(value))) columns.set(key, { name, value });
  }
  return { line, from, values, columns, contradiction };
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'string' && value.trim() === '');

export const SEVERAL_VALUES =
  'the file has this column several times, with values that differ: leave one of them';

/**
 * Refuses a row with two columns or keys of one name, also in different spellings, whose values differ: nothing says
 * which one holds.
 *
 * @throws {RowProblem}
 */
export function refuseContradictions({ values, columns, contradiction }: SourceRow): void {
  if (contradiction) throw contradiction;
  const names = Object.keys(values);
  if (columns.size === names.length) return;
  const written = (value: unknown) => (typeof value === 'string' ? value.trim() : JSON.stringify(value));
  for (const name of names) {
    const key = columnKey(name);
    const first = columns.peek(key);
    if (key === '' || first === undefined || isEmpty(values[name])) continue;
    if (written(first.value) !== written(values[name])) throw new RowProblem(first.name, SEVERAL_VALUES);
  }
}

/**
 * Returns the values of a row of CSV by the names of their columns, and the first column that the row has twice with
 * values that differ.
 *
 * @param keyOf a column's name for comparison
 */
export function namedValues(
  header: readonly string[],
  values: readonly string[],
  keyOf = (name: string) => name,
): { named: Record<string, string>; contradiction: RowProblem | null } {
  const named = new Map<string, string>();
  const byKey = new Map<string, { name: string; text: string }>();
  let contradiction: RowProblem | null = null;
  for (const [column, name] of header.entries()) {
    const value = values[column] ?? '';
    const text = value.trim();
    if (text !== '' || !named.has(name)) named.set(name, value);
    const key = keyOf(name);
    if (key === '' || text === '') continue;
    const before = byKey.get(key);
    if (before === undefined) byKey.set(key, { name, text });
    else if (before.text !== text) contradiction ??= new RowProblem(before.name, SEVERAL_VALUES);
  }
  return { named: Object.fromEntries(named), contradiction };
}

/** Returns the value of the first of these columns that has one, trimmed; null: none has. */
export function textOf(row: SourceRow, ...keys: string[]): string | null {
  const texts = keys.map((key) => {
    const value = row.columns.get(key)?.value;
    return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  });
  return texts.find((text) => text !== '') ?? null;
}

/** Returns the file's name of the first of these columns that it has. */
export function nameOf(row: SourceRow, ...keys: string[]): string | null {
  for (const key of keys) {
    const column = row.columns.get(key);
    if (column) return column.name;
  }
  return null;
}

/**
 * Returns what a value means, be it a boolean of JSON or the form of a database or spreadsheet; null: neither yes nor
 * no.
 */
export function yesNo(value: unknown): boolean | null {
  if (typeof value !== 'boolean' && typeof value !== 'number' && typeof value !== 'string') return null;
  const text = String(value).trim();
  if (YES.test(text)) return true;
  return NO.test(text) ? false : null;
}

/** Also as spreadsheets and programs write it in other languages. */
const YES =
  /^(?:true|t|yes|y|on|1|ja|wahr|oui|vrai|s[ií]|verdadero|sim|verdadeiro|vero|waar|tak|prawda|ano|evet|да|истина|так|はい|是|예)$/iu;
const NO =
  /^(?:false|f|no|n|off|0|nein|falsch|non|faux|falso|n[aã]o|nee|onwaar|nie|fałsz|ne|nej|nei|hay[ıi]r|нет|ложь|ні|いいえ|否|아니요)$/iu;

/** Returns whether a value means yes. */
export function isYes(value: unknown): boolean {
  return yesNo(value) === true;
}
