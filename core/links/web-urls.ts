// Browsers run this file too.
import { isLoopback } from '../addresses/loopback.ts';
import { badRequest } from '../errors.ts';

const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const BIDI_CONTROL = /\p{Bidi_Control}/u;
export const NO_BIDI_CONTROL = 'must not contain characters that change the direction of text';
export const ONE_SCHEME = 'must have one scheme: it has https:// twice';

/**
 * Returns whether a text has a character that changes the order in which it is shown: `U+202E` reverses the text after
 * it.
 */
export function hasBidiControl(text: string): boolean {
  return BIDI_CONTROL.test(text);
}

/**
 * Returns whether a URL is one behind another scheme: `https://https://a.example`, whose host is `https`, or
 * `https://www.https://a.example`.
 *
 * @param text as sent
 */
export function hasTwoSchemes(text: string, { hostname }: URL): boolean {
  return SCHEME_LABEL.test(withoutTrailingDot(hostname)) || SCHEME_IN_HOST.test(text);
}

/** No top-level domain has such a name. */
const SCHEME_LABEL = /(?:^|\.)https?$/;
/** An authority that ends in a colon, and a path that begins with two slashes. */
const SCHEME_IN_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/\\?#]*:[/\\]{2}/i;

export const NO_WHOLE_HOST = 'must name a whole host, such as shop.example';

/** Returns whether a host is a single label, such as `https://example`, whose top-level domain is missing. */
export function hasOneLabel({ hostname }: URL): boolean {
  return !/[.[]/.test(withoutTrailingDot(hostname)) && !isLoopback(withoutTrailingDot(hostname));
}

export const NO_EMPTY_LABEL = 'must not have an empty label in its host';

/** Returns whether a host has an empty label: the parser accepts `https://.` and `https://a..example`. */
export function hasEmptyLabel(url: URL): boolean {
  return withoutTrailingDot(url.hostname).split('.').includes('');
}

/** Returns a host without its trailing dot. */
export function withoutTrailingDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/**
 * Returns what is wrong with a link or image on a page of ours, or null.
 *
 * @param allowsIntranet whether the host may be one label, such as a service's name in a network of containers
 */
function problem(text: string, limit: number, allowsIntranet = false): string | null {
  if (text.length > limit) return `must be at most ${limit} characters`;
  // A parser drops zero-width characters from a host, so the encoded length does not bound what is stored.
  if (new TextEncoder().encode(text).length > limit) return `must be at most ${limit} bytes`;
  if (SPACE_OR_CONTROL.test(text) && /^[\s\p{Cc}]*[a-z][a-z0-9+.-]*:/iu.test(text))
    return 'must not contain white space or control characters';
  if (hasBidiControl(text)) return NO_BIDI_CONTROL;
  // Without "//" the parser still accepts `https:example.com`.
  const url = /^https?:\/\/[^/\\?#]/i.test(text) ? URL.parse(text) : null;
  if (url === null) return 'must be a full URL that begins with https:// or http://';
  if (hasEmptyLabel(url)) return NO_EMPTY_LABEL;
  if (hasTwoSchemes(text, url)) return ONE_SCHEME;
  if (!allowsIntranet && hasOneLabel(url)) return NO_WHOLE_HOST;
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  // Non-ASCII characters grow when browsers percent-encode them.
  return url.href.length > limit ? `must be at most ${limit} characters when encoded` : null;
}

/**
 * Returns whether a text is an `http(s)` URL of at most `limit` characters and bytes, without credentials and white
 * space.
 */
export function isWebUrl(text: string, limit: number): boolean {
  return problem(text, limit) === null;
}

/**
 * Validates an `http(s)` URL from outside.
 *
 * @param path name of the field
 * @param allowsIntranet whether the host may be one label, such as a service's name in a network of containers
 * @throws {AppError} `bad_request` that names the field
 */
export function requireWebUrl(path: string, text: string, limit: number, allowsIntranet = false): void {
  const wrong = problem(text, limit, allowsIntranet);
  if (wrong !== null) throw badRequest(path, wrong);
}
