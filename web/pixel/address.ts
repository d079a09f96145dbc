import { attempt } from './attempt.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
/** Query parameters of ours: the visitor that a redirect names, and a test that the console runs. */
export const [VISITOR, TEST] = ['_vid', 'hoplog_test'];

/** Returns the text if it is a UUID in lower case, else null. */
export function uuidOf(text: string | null | undefined): string | null {
  return text && UUID.test(text) ? text : null;
}

/** A referrer's code in an address, and the UTM parameters beside it as they stand there. */
export type Code = { parameter: string; code: string; utm: string };

/** Returns the pieces of a URL's query. */
const piecesOf = (href: string) => (href.split('#')[0] || '').split('?').slice(1).join('?').split('&');

/** Returns the first of these parameters that a URL has with a value, or null. */
export function codeIn(href: string, names: readonly string[]): Code | null {
  const pieces = piecesOf(href);
  const [found] = pieces
    .map((piece) => piece.split('='))
    .filter(([name = '', value]) => value && names.indexOf(name) >= 0);
  if (!found) return null;
  const [parameter = '', value = ''] = found;
  return {
    parameter,
    code: attempt(() => decodeURIComponent(value.replace(/\+/g, ' '))) || value,
    utm: pieces.filter((piece) => piece.indexOf('utm_') === 0).join('&'),
  };
}

/** A URL without our parameters, and the first valid value of each. */
export type Taken = { href: string; visitorId: string | null; test: string | null };

/**
 * Removes our parameters from a URL and keeps every other character: sites may compare parameters byte for byte, so
 * nothing is re-serialized. The fragment is left alone. Uses no `URL`: a page may have a variable of that name.
 */
export function takeParameters(href: string): Taken {
  const taken: Taken = { href, visitorId: null, test: null };
  const hash = href.indexOf('#');
  const end = hash < 0 ? href.length : hash;
  const mark = href.indexOf('?');
  if (mark < 0 || mark > end) return taken;
  const pieces = href.slice(mark + 1, end).split('&');
  const kept = pieces.filter((piece) => {
    const [name, value] = piece.split('=');
    if (name === VISITOR) taken.visitorId = taken.visitorId || uuidOf(value);
    else if (name === TEST) taken.test = taken.test || uuidOf(value);
    else return true;
    return false;
  });
  if (kept.length === pieces.length) return taken;
  const query = kept.join('&');
  taken.href = href.slice(0, mark) + (query && `?${query}`) + href.slice(end);
  return taken;
}
