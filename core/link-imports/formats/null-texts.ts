import { parsedJson } from '../parsed-json.ts';
import { nameOf, type SourceRow, textOf } from '../source-row.ts';

/** Returns the text of a column. The older CSV of Dub writes `null` for missing values. */
export function fieldOf(row: SourceRow, key: string): string | null {
  return nullless(textOf(row, key));
}

export function nullless<T>(value: T): T | null {
  return value === 'null' || value === undefined ? null : value;
}

/** Returns an object of JSON, also from its text in a column of CSV. */
export function jsonIn(row: SourceRow, key: string): unknown {
  const value = row.columns.get(key)?.value;
  if (typeof value !== 'string') return value;
  const text = fieldOf(row, key);
  return text === null ? null : parsedJson(text, nameOf(row, key));
}
