/**
 * Parses JSON with integers beyond 2^53 as their digits in a string: ids of some providers are such numbers, and a
 * double would change them.
 *
 * @throws {SyntaxError}
 */
export function parseExact(text: string): unknown {
  return parse(text, (_, value, { source }) =>
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    INTEGER.test(source ?? '')
      ? source
      : value,
  );
}

const INTEGER = /^-?\d+$/;

/** `JSON.parse` with the source of each primitive (ECMAScript proposal, in V8 since 11.4), which its types lack. */
const parse = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;
