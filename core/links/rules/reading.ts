// Browsers run this file too.
import { badRequest } from '../../errors.ts';
import { readEach } from '../../faults.ts';
import { nearestName } from '../../text/near-names.ts';
import { TEXT_LIMIT, VALUES_LIMIT } from './types.ts';

/** A condition as sent: its fields have these types, and `type` decides which it needs. */
export type ConditionInput = {
  type: string;
  operator?: string;
  values?: string[];
  name?: string;
  after?: string;
  before?: string;
  days?: number[];
  from?: string;
  to?: string;
  time_zone?: string;
};

/** @throws {AppError} `bad_request` that names every field which `owner` does not have */
export function refuseUnknown(path: string, given: object, known: readonly string[], owner: string): void {
  readEach(Object.keys(given), (name) => {
    if (known.includes(name)) return;
    const near = nearestName(name, known);
    const more = near === null ? {} : { hint: `did you mean \`${near}\`?` };
    throw badRequest(`${path}.${name}`, `is not a field of ${owner}: it has ${known.join(', ')}`, more);
  });
}

/** @throws {AppError} `bad_request` when an operator is not one of `known` */
export function operatorOf<T extends string>(
  path: string,
  given: string | undefined,
  known: readonly T[],
): T {
  const operator = known.find((name) => name === given);
  if (operator === undefined) throw badRequest(`${path}.operator`, `must be one of ${known.join(', ')}`);
  return operator;
}

/** Reads the values of a condition, each once. @throws {AppError} `bad_request` that names every faulty value */
export function readValues(
  path: string,
  given: string[] | undefined,
  read: (path: string, text: string) => string,
): string[] {
  if (given === undefined || given.length === 0) throw badRequest(path, 'must have at least one value');
  if (given.length > VALUES_LIMIT) throw badRequest(path, `must have at most ${VALUES_LIMIT} values`);
  return [...new Set(readEach(given, (text, nth) => read(`${path}.${nth}`, text)))];
}

/** @throws {AppError} `bad_request` when a text is not one of `known` */
export function oneOf(path: string, text: string, known: readonly string[]): string {
  if (known.includes(text)) return text;
  throw badRequest(path, `must be one of ${known.join(', ')}`);
}

/** @throws {AppError} `bad_request` when a text is empty or too long */
export function shortText(path: string, text: string | undefined): string {
  if (text === undefined || text === '') throw badRequest(path, 'is required');
  if (text.length > TEXT_LIMIT) throw badRequest(path, `must be at most ${TEXT_LIMIT} characters`);
  return text;
}
