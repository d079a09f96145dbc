import type { RowProblem, SourceRow } from './source-row.ts';

/** The reason why a row made no link. */
export type RowError = {
  /** Line of the file on which the row begins, from 1. */
  line: number;
  /** The file's name of the column; null: the row as a whole. */
  column: string | null;
  message: string;
  /**
   * The row's values, shortened and without passwords; null where there are none, and past the first thousand errors.
   */
  row: Record<string, string> | null;
};

/** Limit of errors with their rows: a file of a million bad rows must not fill the memory. */
const ROWS_STORED = 1_000;
const VALUE_LIMIT = 200;

/** Collects the errors of an import. */
export class ImportErrors {
  readonly list: RowError[] = [];

  add(line: number, { column, message }: RowProblem, row: SourceRow | null): void {
    const values = row && this.list.length < ROWS_STORED ? shown(row.values) : null;
    this.list.push({ line, column, message, row: values });
  }
}

function shown(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([column, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      return [column, /password/i.test(column) && text !== '' ? '***' : text.slice(0, VALUE_LIMIT)];
    }),
  );
}
