import { getDomain } from 'tldts';
import { badRequest } from '../errors.ts';
import { hasEmptyLabel, NO_EMPTY_LABEL, withoutTrailingDot } from './web-urls.ts';

/** Longest destination, in characters as sent; also of targeting and expired destinations. */
export const DESTINATION_LIMIT = 4_096;
/** And as encoded: clients take 16 KiB of headers in all, Node's among them. */
const ENCODED_LIMIT = 12_288;

const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

export type DestinationRules = {
  /** Origin of short links: no destination may lead back to it. */
  shortUrl: string;
};

/**
 * Checks a destination from outside: `https://`, or `http://` on a loopback host; a host without empty labels, no
 * credentials, no white space or control character, not the short-link origin, at most {@link DESTINATION_LIMIT}
 * characters, and 12,288 when it is encoded.
 *
 * @param path name of the field
 * @returns the parsed address; keep the text as sent in the record
 * @throws {AppError} `bad_request` that names the field
 */
export function requireDestination(path: string, text: string, rules: DestinationRules): URL {
  if (text.length > DESTINATION_LIMIT) {
    throw badRequest(path, `must be at most ${DESTINATION_LIMIT} characters`);
  }
  if (SPACE_OR_CONTROL.test(text))
    throw badRequest(path, 'must not contain white space or control characters');
  // Without "//" the parser still takes `https:example.com`, which nobody means.
  const url = /^https?:\/\/[^/\\?#]/i.test(text) ? parse(text) : null;
  if (url === null) throw badRequest(path, 'must be a full URL that begins with https://');
  if (hasEmptyLabel(url)) throw badRequest(path, NO_EMPTY_LABEL);
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    throw badRequest(path, 'must begin with https:// (http:// is for loopback hosts only)');
  }
  if (url.username !== '' || url.password !== '') throw badRequest(path, 'must not contain credentials');
  if (isSameOrigin(url, rules.shortUrl))
    throw badRequest(path, 'must not lead back to the short-link origin');
  // A redirect sends it encoded, where a character may be nine.
  if (url.href.length > ENCODED_LIMIT) {
    throw badRequest(path, `must be at most ${ENCODED_LIMIT} characters when encoded`);
  }
  return url;
}

/** Whether a host name (brackets around IPv6) always means this very machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * The domain that an own-site destination belongs to: its registrable domain by the public suffix list, its
 * private part included (`alice.github.io`, not `github.io`: neighbours there are strangers). A host without
 * one, such as an address or `localhost`, is its own.
 */
export function registrableDomain(url: URL): string {
  const host = withoutTrailingDot(url.hostname);
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

/** Whether a destination is on a workspace's own site: the domain itself or anything below it. */
export function isOnDomain(url: URL, domain: string): boolean {
  const host = withoutTrailingDot(url.hostname);
  const own = domain.toLowerCase();
  return host === own || host.endsWith(`.${own}`);
}

/** Whether a URL leads to an origin of ours: by one scheme or the other, by any loopback name. */
export function isOnOrigin(text: string, origin: string): boolean {
  const url = parse(text);
  return url !== null && isSameOrigin(url, origin);
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** One scheme or the other, since a server may answer on both; every loopback name is the same machine. */
function isSameOrigin(url: URL, shortUrl: string): boolean {
  const short = new URL(shortUrl);
  const host = withoutTrailingDot(url.hostname);
  if (isLoopback(host) && isLoopback(short.hostname)) return portOf(url) === portOf(short);
  return host === short.hostname && (url.port === short.port || portOf(url) === portOf(short));
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}
