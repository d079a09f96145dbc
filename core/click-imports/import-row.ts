import { cleanText } from '../enrich/referer.ts';
import { columnKey, RowProblem } from '../link-imports/source-row.ts';

/** Maximum length, in characters, of a text other than a referer or user agent. */
const TEXT_LIMIT = 255;
/** Exports put an apostrophe before a text that a spreadsheet would run as a formula. */
const GUARDED = /^'+[=+@\t\r-]/;

/** The columns of a file, and which of them were read. */
export class FileColumns {
  /** The file's names by {@link columnKey}. */
  readonly names = new Map<string, string>();
  readonly #read = new Set<string>();
  readonly #keys = new Map<string, string>();

  /** Returns the key of a column, and stores its name. */
  keyOf(name: string): string {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = columnKey(name);
    this.#keys.set(name, key);
    if (!this.names.has(key)) this.names.set(key, name.trim());
    return key;
  }

  note(key: string): void {
    this.#read.add(key);
  }

  /** Returns the file's names of the columns that no row read. */
  unread(): string[] {
    return [...this.names].flatMap(([key, name]) => (this.#read.has(key) ? [] : [name]));
  }
}

/** A row of a file of clicks. */
export class ImportRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly #columns: FileColumns;
  readonly #values: ReadonlyMap<string, unknown>;

  /** @param values by {@link columnKey} */
  constructor(line: number, columns: FileColumns, values: ReadonlyMap<string, unknown>) {
    this.line = line;
    this.#columns = columns;
    this.#values = values;
  }

  value(key: string): unknown {
    this.#columns.note(key);
    return this.#values.get(key);
  }

  /** Returns the text of the first of these columns that has one, trimmed; empty when none has. */
  text(...keys: string[]): string {
    let found = '';
    for (const key of keys) {
      const text = plainText(this.value(key));
      if (found === '') found = text;
    }
    return found;
  }

  /** As {@link text}, without control characters, cut at the stored length. */
  short(...keys: string[]): string {
    return cleanText(this.text(...keys), TEXT_LIMIT);
  }

  /** Returns the file's name of the first of these columns that the file has. */
  nameOf(...keys: string[]): string {
    const key = keys.find((one) => this.#columns.names.has(one)) ?? keys[0] ?? '';
    return this.#columns.names.get(key) ?? key;
  }

  /** Returns the problem of the first of these columns that the file has. */
  wrong(message: string, ...keys: string[]): RowProblem {
    return new RowProblem(this.nameOf(...keys), message);
  }
}

function plainText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return '';
  const text = value.trim();
  const whole = GUARDED.test(text) ? text.slice(1) : text;
  return whole.isWellFormed() ? whole : whole.toWellFormed();
}
