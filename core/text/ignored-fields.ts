/** Maximum number of names in the header `x-ignored-fields`. */
const MOST_NAMED = 20;
/** Maximum characters of a name in that header. */
const LONGEST_NAMED = 200;

/**
 * Returns the header `x-ignored-fields`, or null when no field is ignored. Names may contain commas and line breaks.
 *
 * @param names dotted paths of a body's ignored fields; half a surrogate pair in one is U+FFFD in the header
 */
export function ignoredFieldsHeader(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const encoded = names.slice(0, MOST_NAMED).map((name) => encodeURIComponent(name.toWellFormed()));
  return encoded.map((name) => name.slice(0, LONGEST_NAMED)).join(', ');
}
