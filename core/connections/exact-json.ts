import { createHash } from 'node:crypto';
import { storableText, unstorableText } from '../text/storable.ts';

/**
 * Parses JSON with integers beyond 2^53 as their digits in a string: ids of some providers are such numbers, and a
 * double would change them.
 *
 * @throws {SyntaxError}
 */
export const parseExact = (text: string): unknown => parse(text, exact);

/** Names of an event's type. It is one of the provider's words, so a character less does not make it another's. */
const TYPES = new Set(['type', 'event_type', 'event_name']);

/** {@link parseExact} with texts that can be stored: see {@link storableId}. @throws {SyntaxError} */
export function parseStorable(text: string): unknown {
  return parse(text, (name, value, context) => {
    if (typeof value !== 'string') return exact(name, value, context);
    return (TYPES.has(name) && storableText(value)) || storableId(value);
  });
}

/** Characters of an id of an event, of its type, and of the key that orders events. */
const MOST = 255;
const KEPT = 180;

/**
 * Returns an id as it is, or, when it is too long or can't be stored, its beginning and a hash, so that it stays
 * unique.
 */
export function storableId(id: string): string {
  if (id.length <= MOST && unstorableText(id) === null) return id;
  const hash = createHash('sha256').update(JSON.stringify(id)).digest('hex');
  return `${storableText(storableText(id).slice(0, KEPT))}#${hash}`;
}

const INTEGER = /^-?\d+$/;

function exact(_: string, value: unknown, { source }: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isInexact && INTEGER.test(source ?? '') ? source : value;
}

/** `JSON.parse` with the source of each primitive (ECMAScript proposal, in V8 since 11.4), which its types lack. */
const parse = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;
