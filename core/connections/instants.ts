import { EventProblem } from './connector.ts';
import type { Json } from './fields.ts';
import { maybeText } from './fields.ts';

/** Reads an ISO 8601 instant with a zone, as milliseconds; null when it is missing. @throws {EventProblem} */
export function maybeInstant(from: Json | null, name: string): number | null {
  const text = maybeText(from, name);
  if (text === null) return null;
  const at = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new EventProblem(`\`${name}\` must be an ISO 8601 instant`);
  return at;
}

/** @throws {EventProblem} */
export function instantAt(from: Json, name: string): number {
  const at = maybeInstant(from, name);
  if (at === null) throw new EventProblem(`\`${name}\` must be an ISO 8601 instant`);
  return at;
}
