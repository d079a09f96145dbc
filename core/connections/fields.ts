import { storableText, unstorableText } from '../text/storable.ts';
import { EventProblem } from './connector.ts';

/** Reads fields of a provider's JSON, whose shape is checked where it is read. */

export type Json = { readonly [name: string]: unknown };

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws {EventProblem} */
export function objectAt(from: Json, name: string): Json {
  const value = from[name];
  if (!isObject(value)) throw new EventProblem(`\`${name}\` must be an object`);
  return value;
}

/** Returns the object of a field, or null when it is missing or null. @throws {EventProblem} */
export function maybeObject(from: Json | null, name: string): Json | null {
  const value = from?.[name];
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw new EventProblem(`\`${name}\` must be an object`);
  return value;
}

/** @throws {EventProblem} */
export function textAt(from: Json, name: string): string {
  const value = maybeText(from, name);
  if (value === null) throw new EventProblem(`\`${name}\` must be a string`);
  return value;
}

/** Fields that people type: characters that can't be stored are removed. An id without them would be another id. */
const TYPED = new Set(['email', 'customer_email', 'receipt_email', 'user_email', 'name', 'code']);

/** Returns a text that is not empty, or null. Numbers are texts of their digits. @throws {EventProblem} */
export function maybeText(from: Json | null, name: string): string | null {
  const value = from?.[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw new EventProblem(`\`${name}\` must be a string`);
  const problem = unstorableText(value);
  if (problem === null) return value;
  if (!TYPED.has(name)) throw new EventProblem(`\`${name}\` ${problem}`);
  return storableText(value) || null;
}

/** @throws {EventProblem} */
export function integerAt(from: Json, name: string): number {
  const value = from[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    throw new EventProblem(`\`${name}\` must be an integer`);
  return value;
}

/** Returns an integer, or null when the field is missing or null. @throws {EventProblem} */
export function maybeInteger(from: Json | null, name: string): number | null {
  const value = from?.[name];
  return value === undefined || value === null ? null : integerAt({ [name]: value }, name);
}

/** Returns the id of a field that holds an object or only its id, or null. */
export function maybeId(from: Json | null, name: string): string | null {
  const value = from?.[name];
  return isObject(value) ? maybeText(value, 'id') : maybeText(from, name);
}

/** Returns the objects of a list; none when it is missing. */
export function objectsIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
