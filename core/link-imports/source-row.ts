/** What is wrong with a row before it is a create: not a reason to stop. */
export class RowProblem extends Error {
  override name = 'RowProblem';
  readonly column: string | null;

  /** @param column as the file calls it; null: the row as a whole */
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
  /** By {@link columnKey}: how the file spells it, and the value. */
  columns: ReadonlyMap<string, { name: string; value: unknown }>;
};

/** A row, or what is wrong with the place where one should be. */
export type ReadRow = SourceRow | { line: number; problem: RowProblem };

/** Names of columns are compared without case, blanks and punctuation: `Short link` is `shortLink`. */
export function columnKey(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}.]/gu, '');
}

export function sourceRow(from: SourceRow['from'], line: number, values: Record<string, unknown>): SourceRow {
  const columns = new Map<string, { name: string; value: unknown }>();
  for (const [name, value] of Object.entries(values)) {
    const key = columnKey(name);
    if (!columns.has(key)) columns.set(key, { name, value });
  }
  return { line, from, values, columns };
}

/** The value of the first of these columns that has one, without blanks around it; null: none has. */
export function textOf(row: SourceRow, ...keys: string[]): string | null {
  for (const key of keys) {
    const value = row.columns.get(key)?.value;
    const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
    if (text !== '') return text;
  }
  return null;
}

/** How the file calls the first of these columns that it has. */
export function nameOf(row: SourceRow, ...keys: string[]): string | null {
  for (const key of keys) {
    const column = row.columns.get(key);
    if (column) return column.name;
  }
  return null;
}

/** Whether a column says yes: a boolean of JSON, or what a database or a spreadsheet writes for it. */
export function isYes(value: unknown): boolean {
  return (
    value === true || value === 1 || (typeof value === 'string' && /^(true|t|yes|y|1)$/i.test(value.trim()))
  );
}
