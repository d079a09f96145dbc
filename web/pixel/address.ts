const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
/** Query parameters of ours: the visitor that a redirect names, and a test that the console runs. */
export const [VISITOR, TEST] = ['_vid', 'hoplog_test'];

/** Returns the text if it is a UUID in lower case, else null. */
export function uuidOf(text: string | null | undefined): string | null {
  return text && UUID.test(text) ? text : null;
}

/**
 * A URL without our parameters, and the first valid value of each. `code`: the first parameter that names a referrer, as
 * it stands in the URL (`via=anna`); it stays there.
 */
export type Taken = { href: string; visitorId: string | null; test: string | null; code: string | null };

/**
 * Removes our parameters from a URL, and keeps every other character: sites may compare parameters byte for byte, so
 * nothing is re-serialized. The fragment is left alone. Uses no `URL`: a page may have a variable of that name.
 *
 * @param referring names of the parameters that name a referrer
 */
export function takeParameters(href: string, referring: readonly string[] = []): Taken {
  const taken: Taken = { href, visitorId: null, test: null, code: null };
  const hash = href.indexOf('#');
  const end = hash < 0 ? href.length : hash;
  const mark = href.indexOf('?');
  if (mark < 0 || mark > end) return taken;
  const pieces = href.slice(mark + 1, end).split('&');
  const kept = pieces.filter((piece) => {
    const [name = '', value] = piece.split('=');
    if (name === VISITOR) taken.visitorId = taken.visitorId || uuidOf(value);
    else if (name === TEST) taken.test = taken.test || uuidOf(value);
    else {
      if (value && referring.indexOf(name) >= 0) taken.code = taken.code || piece;
      return true;
    }
    return false;
  });
  if (kept.length === pieces.length) return taken;
  const query = kept.join('&');
  taken.href = href.slice(0, mark) + (query && `?${query}`) + href.slice(end);
  return taken;
}
