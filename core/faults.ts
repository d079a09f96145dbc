// Browsers run this file too.
import { AppError, type ErrorDetail } from './errors.ts';

/** Most faults that a response names; its message counts all. */
export const FAULTS_LIMIT = 20;

/**
 * Returns a 400 that names all faults of a request, each at its field. The message says the first, and how many follow.
 *
 * @param found at least one; of several at one field the first is named
 */
export function badFields(found: readonly ErrorDetail[]): AppError {
  const details = firstOfEach(found);
  const [first = { path: 'body', message: 'is invalid' }] = details;
  const text = first.hint === undefined ? first.message : `${first.message}; ${first.hint}`;
  const others = details.length - 1;
  const more =
    others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'fault' : 'faults'} in \`details\`)`;
  return new AppError('bad_request', `\`${first.path}\` ${text}${more}`, details);
}

/** Returns the first fault of each field. */
function firstOfEach(found: readonly ErrorDetail[]): ErrorDetail[] {
  const byPath = new Map<string, ErrorDetail>();
  for (const detail of found) if (!byPath.has(detail.path)) byPath.set(detail.path, detail);
  return [...byPath.values()];
}

/** Returns the faults that an error names, or null when the error is not a 400 about fields. */
export function faultsOf(error: unknown): ErrorDetail[] | null {
  return error instanceof AppError && error.code === 'bad_request' ? (error.details ?? null) : null;
}

type Read<T> = { [K in keyof T]: T[K] extends () => infer V ? V : never };

/**
 * Runs every reader and returns what they return, by name.
 *
 * @throws {AppError} one `bad_request` with the faults of all readers; any other error at once
 */
export function readAll<T extends Record<string, () => unknown>>(readers: T): Read<T> {
  const entries = Object.entries(readers);
  const values = readEach(entries, ([, read]) => read());
  return Object.fromEntries(entries.map(([name], n) => [name, values[n]])) as Read<T>;
}

/**
 * Runs every check.
 *
 * @throws {AppError} one `bad_request` with the faults of all checks; any other error at once
 */
export function checkAll(checks: readonly (() => unknown)[]): void {
  readEach(checks, (check) => check());
}

/**
 * Reads every item and returns the values, in order.
 *
 * @throws {AppError} one `bad_request` with the faults of all items; any other error at once
 */
export function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item, index: number) => Value,
): Value[] {
  const details: ErrorDetail[] = [];
  const values: Value[] = [];
  for (const [index, item] of items.entries()) {
    try {
      values.push(read(item, index));
    } catch (error) {
      const faults = faultsOf(error);
      if (faults === null) throw error;
      details.push(...faults);
    }
  }
  if (details.length > 0) throw badFields(details);
  return values;
}
