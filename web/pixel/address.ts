const UUID = /^[\da-f]{8}(-[\da-f]{4}){4}[\da-f]{8}$/;
/** Our query parameters: the visitor that a redirect names, and a test that the console runs. */
export const VISITOR = '_vid';
export const TEST = 'hoplog_test';

/** Whether a text is a UUID in lower case. */
export const isUuid = (text: string | null | undefined): text is string => UUID.test(text as string);

/** A URL without our parameters, the rest of its query, and the first valid value of each of ours. */
export type Taken = { href: string; pieces: string[] } & { [name in typeof VISITOR | typeof TEST]?: string };

/**
 * Removes our parameters from a URL, and keeps every other character: sites may compare parameters byte for byte, so
 * nothing is re-serialized. The fragment is left alone. Uses no `URL`: a page may have a variable of that name.
 */
export const takeParameters = (href: string): Taken => {
  const [, path, query = '', hash] = /^([^?#]*)\?([^#]*)(.*)/s.exec(href) || [];
  const taken: Taken = { href, pieces: query.split('&') };
  const kept = taken.pieces.filter((piece) => {
    const [name, value] = piece.split('=');
    if (name !== VISITOR && name !== TEST) return true;
    if (!taken[name] && isUuid(value)) taken[name] = value;
    return false;
  });
  const rest = kept.join('&');
  if (kept.length < taken.pieces.length) taken.href = path + (rest && `?${rest}`) + hash;
  return taken;
};

/** Returns the first piece with one of these names and a value: `via=anna`. */
export const codeIn = (pieces: readonly string[], names: readonly string[]): string | undefined =>
  pieces.find((piece) => {
    const [name = '', value] = piece.split('=');
    return value && names.includes(name);
  });
