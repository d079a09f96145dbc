import { getDomain } from 'tldts';
import { isLoopback } from '../addresses/loopback.ts';
import { badRequest } from '../errors.ts';
import type { BlockedDomains } from './blocked-domains.ts';
import {
  hasBidiControl,
  hasEmptyLabel,
  hasOneLabel,
  hasTwoSchemes,
  NO_BIDI_CONTROL,
  NO_EMPTY_LABEL,
  NO_WHOLE_HOST,
  ONE_SCHEME,
  withoutTrailingDot,
} from './web-urls.ts';

/** Longest destination, in characters as sent; also of targeting and expired destinations. */
export const DESTINATION_LIMIT = 4_096;
/** Longest encoded destination: clients, Node included, accept 16 KiB of headers in all. */
const ENCODED_LIMIT = 12_288;

const NO_URL = 'must be a full URL that begins with https://, such as https://shop.example/tea';
const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const SCHEME = /^[\s\p{Cc}]*[a-z][a-z0-9+.-]*:/iu;

export type DestinationRules = {
  /** Origin of short links. No destination may lead back to it. */
  shortUrl: string;
  /** The operator's list. */
  blockedDomains?: Pick<BlockedDomains, 'blocks'> | undefined;
  /** Whether `http://` is allowed everywhere: a link that exists elsewhere must still work after an import. */
  allowsHttp?: boolean;
};

/** @throws {AppError} `bad_request` that names the field, when the operator has blocked the domain of a URL */
export function refuseBlockedDomain(
  path: string,
  url: string,
  domains: Pick<BlockedDomains, 'blocks'> | undefined,
): void {
  if (domains?.blocks(url))
    throw badRequest(path, `must not lead to ${new URL(url).hostname}: the operator has blocked this domain`);
}

/**
 * Validates a destination from outside: `https://`, or `http://` on a loopback host; no empty label in the host, no
 * credentials, no white space or control character, not the short-link origin, at most {@link DESTINATION_LIMIT}
 * characters, and 12,288 when encoded.
 *
 * @param path name of the field
 * @returns the parsed address; store the text as sent
 * @throws {AppError} `bad_request` that names the field
 */
export function requireDestination(path: string, text: string, rules: DestinationRules): URL {
  requireStorable(path, text);
  // Without "//" the parser still accepts `https:example.com`.
  const url = /^https?:\/\/[^/\\?#]/i.test(text) ? parse(text) : null;
  if (url === null) throw badRequest(path, NO_URL);
  if (hasEmptyLabel(url)) throw badRequest(path, NO_EMPTY_LABEL);
  if (hasTwoSchemes(text, url)) throw badRequest(path, ONE_SCHEME);
  // An import keeps a link to a host of an intranet.
  if (!rules.allowsHttp && hasOneLabel(url)) throw badRequest(path, NO_WHOLE_HOST);
  if (url.protocol !== 'https:' && !rules.allowsHttp && !isLoopback(url.hostname)) {
    throw badRequest(path, 'must begin with https:// (http:// is for loopback hosts only)');
  }
  if (url.username !== '' || url.password !== '') throw badRequest(path, 'must not contain credentials');
  refuseBlockedDomain(path, url.href, rules.blockedDomains);
  if (isSameOrigin(url, rules.shortUrl))
    throw badRequest(path, 'must not lead back to the short-link origin');
  requireSendable(path, url);
  return url;
}

/** Schemes with special treatment in browsers, which could run a script or read a file. */
const NO_APP = new Set(['http', 'https', 'javascript', 'data', 'file', 'vbscript', 'blob', 'about', 'ftp']);
const APP_SCHEME = /^([a-z][a-z0-9+.-]*):\/\/[^/\\?#]/i;
/** Schemes of apps without an authority. A list, because any other scheme could be a host: `shop.example:8080`. */
const BARE_SCHEME = /^(?:geo|tel|sms|smsto|mailto|facetime|facetime-audio|callto|skype):[^/\\?#]/i;

/**
 * Validates a destination on devices that open apps: as {@link requireDestination}, or the address of an app such as
 * `myapp://product/17`, `geo:52.5,13.4`, or `tel:+4930123456`.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function requireAppDestination(path: string, text: string, rules: DestinationRules): URL {
  const scheme = APP_SCHEME.exec(text)?.[1]?.toLowerCase();
  if ((scheme === undefined || NO_APP.has(scheme)) && !BARE_SCHEME.test(text)) {
    return requireDestination(path, text, rules);
  }
  requireStorable(path, text);
  const url = parse(text);
  if (url === null) throw badRequest(path, 'must be a full URL that begins with https:// or an app scheme');
  requireSendable(path, url);
  return url;
}

function requireStorable(path: string, text: string): void {
  if (text.length > DESTINATION_LIMIT) {
    throw badRequest(path, `must be at most ${DESTINATION_LIMIT} characters`);
  }
  // In a text without a scheme, such as words, the missing scheme is the fault and not the white space.
  if (SPACE_OR_CONTROL.test(text) && SCHEME.test(text))
    throw badRequest(path, 'must not contain white space or control characters');
  if (hasBidiControl(text)) throw badRequest(path, NO_BIDI_CONTROL);
}

/** A redirect sends the encoded address, in which a character may take nine. */
function requireSendable(path: string, url: URL): void {
  if (url.href.length > ENCODED_LIMIT) {
    throw badRequest(path, `must be at most ${ENCODED_LIMIT} characters when encoded`);
  }
}

/**
 * Returns the domain of an own-site destination: its registrable domain by the public suffix list, private part
 * included (`alice.github.io`, not `github.io`, whose other subdomains are strangers). An IP address, and a host
 * without such a domain like `localhost`, is returned itself.
 */
export function registrableDomain(url: URL): string {
  const host = withoutTrailingDot(url.hostname);
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

/** Returns whether a destination is on a workspace's own site: the domain or anything below it. */
export function isOnDomain(url: URL, domain: string): boolean {
  const host = withoutTrailingDot(url.hostname);
  const own = domain.toLowerCase();
  return host === own || host.endsWith(`.${own}`);
}

/** Returns whether a URL leads to our origin `origin`: by either scheme and any loopback name. */
export function isOnOrigin(text: string, origin: string): boolean {
  const url = parse(text);
  return url !== null && isSameOrigin(url, origin);
}

/** Returns whether a web address is on one of the hosts. The host of an app's address names no machine. */
export function isOnHost(text: string, hosts: readonly string[]): boolean {
  const url = parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && hosts.includes(withoutTrailingDot(url.hostname));
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Compares by either scheme, since a server may respond on both; every loopback name is the same machine. */
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
