import { domainToASCII } from 'node:url';

/** Longest stored referer, in UTF-16 code units. */
export const REFERER_LIMIT = 2_048;

const CONTROL = /\p{Cc}/u;
const CONTROLS = /\p{Cc}/gu;

/** Returns the referer for storage: as sent, without control characters, cut at {@link REFERER_LIMIT}. */
export function cleanReferer(referer: string): string {
  return cleanText(referer, REFERER_LIMIT);
}

/** Returns text from outside for storage: without control characters, cut at a limit in UTF-16 code units. */
export function cleanText(given: string, limit: number): string {
  const text = CONTROL.test(given) ? given.replaceAll(CONTROLS, '') : given;
  if (text.length <= limit) return text;
  // Never between the halves of a surrogate pair: the rest would not survive UTF-8.
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** The source of a visitor: the host of a page, or the package of an Android app. */
export type RefererOrigin = { name: string; app: boolean };

/**
 * Returns the host or app of a referer, in lower case, without port, credentials and trailing dot. Written by hand
 * for the redirect: `new URL` costs ten times as much and throws on what clients really send.
 *
 * @returns null when the text is not an http, https or android-app address
 */
export function refererOrigin(referer: string): RefererOrigin | null {
  const mark = referer.indexOf('://');
  if (mark < 4 || mark > 11) return null;
  const scheme = referer.slice(0, mark).toLowerCase();
  const app = scheme === 'android-app' || scheme === 'ios-app';
  if (!app && scheme !== 'https' && scheme !== 'http') return null;
  let start = mark + 3;
  let end = start;
  for (; end < referer.length; end++) {
    const code = referer.charCodeAt(end);
    if (code === 0x2f || code === 0x3f || code === 0x23 || code === 0x5c) break; // / ? # \
    if (code === 0x40) start = end + 1; // @
  }
  let name = referer.slice(start, end);
  // An IPv6 address has colons of its own, in brackets.
  const port = name.indexOf(':', name.startsWith('[') ? name.indexOf(']') + 1 : 0);
  if (port >= 0) name = name.slice(0, port);
  if (name.startsWith('[') && name.endsWith(']')) name = name.slice(1, -1);
  if (name.endsWith('.')) name = name.slice(0, -1);
  return name === '' ? null : { name: hostName(name), app };
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Returns a host as browsers send it: in lower case, an international name in punycode. */
export function hostName(name: string): string {
  return (NOT_ASCII.test(name) && domainToASCII(name)) || name.toLowerCase();
}

/** Longest host name (RFC 1035). */
const HOST_LIMIT = 253;

/** Returns the host or app of a referer; empty when it has none, or one that is longer than a host name can be. */
export function refererHost(referer: string): string {
  const name = refererOrigin(referer)?.name ?? '';
  return name.length > HOST_LIMIT ? '' : name;
}
