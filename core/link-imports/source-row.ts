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
  /** By the file's own names of columns. */
  values: Record<string, unknown>;
  /** The file's name and value of a column, by {@link columnKey}. Remembers which were read. */
  columns: ReadColumns;
};

type Column = { name: string; value: unknown };

/** The columns of a row. What `get` asked for is in `read`: the others are not taken over. */
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

export function sourceRow(from: SourceRow['from'], line: number, values: Record<string, unknown>): SourceRow {
  const columns = new ReadColumns();
  for (const [name, value] of Object.entries(values)) {
    const key = columnKey(name);
    if (!columns.has(key)) columns.set(key, { name, value });
  }
  return { line, from, values, columns };
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

/** Returns whether a value means yes: a boolean of JSON, or the form of a database or spreadsheet. */
export function isYes(value: unknown): boolean {
  return (
    value === true || value === 1 || (typeof value === 'string' && /^(true|t|yes|y|1)$/i.test(value.trim()))
  );
}
