import { storableText } from '../text/storable.ts';

/**
 * Parses JSON with integers beyond 2^53 as their digits in a string: ids of some providers are such numbers, and a
 * double would change them.
 *
 * @throws {SyntaxError}
 */
export const parseExact = (text: string): unknown => parse(text, exact);

/** {@link parseExact}, without the characters that can't be stored. @throws {SyntaxError} */
export function parseStorable(text: string): unknown {
  return parse(text, (name, value, context) =>
    typeof value === 'string' ? storableText(value) : exact(name, value, context),
  );
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
