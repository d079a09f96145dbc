import { isPasswordColumn } from './meaning/password.ts';
import { objectIn } from './nested-values.ts';
import type { RowProblem, SourceRow } from './source-row.ts';

/** Where an error is. */
export type RowPlace = {
  /** Line of the file on which the row begins, from 1. */
  line: number;
};

/** Where an error of a link is. */
export type LinkPlace = RowPlace & {
  /** Number of the row in the file, from 0. */
  index: number;
  /** The link: its short URL, or its slug; null: not known. */
  link: string | null;
};

/** The reason why a row made nothing. */
export type RowError<Place extends RowPlace = RowPlace> = Place & {
  /** The file's name of the column or key; null: the row as a whole. */
  field: string | null;
  message: string;
  /**
   * The row's values, shortened and without passwords; null where there are none, and past the first thousand errors.
   */
  row: Record<string, string> | null;
};

/** Most errors that keep their row: a file of a million bad rows must not fill the memory. */
const ROWS_STORED = 1_000;
const VALUE_LIMIT = 200;

/** Collects the errors of an import. */
export class ImportErrors<Place extends RowPlace = RowPlace> {
  readonly list: RowError<Place>[] = [];

  add(place: Place, { column: field, message }: RowProblem, row: SourceRow | null): void {
    const values = row && this.list.length < ROWS_STORED ? shown(row.values) : null;
    this.list.push({ ...place, field, message, row: values });
  }
}

function shown(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([column, value]) => {
      const [, masked] = withoutPassword(column, value);
      const text = typeof masked === 'string' ? masked : (JSON.stringify(masked) ?? '');
      return [column, text.slice(0, VALUE_LIMIT)];
    }),
  );
}

/** Returns a name and its value, with each password masked, at any depth. */
function withoutPassword(name: string, value: unknown): [string, unknown] {
  if (isPasswordColumn(name) && value !== '' && value !== null && value !== undefined) return [name, '***'];
  const inner = objectIn(value);
  if (inner === null) return [name, value];
  if (Array.isArray(inner)) return [name, inner.map((one) => withoutPassword('', one)[1])];
  return [name, Object.fromEntries(Object.entries(inner).map(([key, one]) => withoutPassword(key, one)))];
}
