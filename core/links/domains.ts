import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { badRequest } from '../errors.ts';
import { withoutTrailingDot } from './web-urls.ts';

/** Name of the TXT record below a domain that proves it. */
export const PROOF_LABEL = '_hoplog';
/** Characters of a host name: with `_hoplog.` before it, it has at most the 253 of DNS. */
export const DOMAIN_LIMIT = 245;

/** Characters that `domainToASCII` drops, as a URL parser does: white space inside, and everything from a path on. */
const NOT_OF_A_HOST = /[\s/\\?#]/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Names that never lead to a public server (RFC 6761, RFC 6762, ICANN's `internal`). */
const PRIVATE_ENDS = ['localhost', 'local', 'internal', 'invalid'];

/**
 * Validates the host name of a workspace's domain.
 *
 * @param own origins of the deployment: their hosts are refused
 * @returns the name in lower-case ASCII, without a final dot
 * @throws {AppError} `bad_request` that names `domain`
 */
export function requireDomain(text: string, own: readonly string[]): string {
  const given = text.trim();
  const domain = NOT_OF_A_HOST.test(given) ? '' : withoutTrailingDot(domainToASCII(given));
  const labels = domain.split('.');
  if (domain === '' || !labels.every((label) => LABEL.test(label)) || /^[\d.]+$/.test(domain)) {
    throw badRequest('domain', 'must be a host name such as go.example.com, without scheme, port and path');
  }
  if (domain.length > DOMAIN_LIMIT) throw badRequest('domain', `must be at most ${DOMAIN_LIMIT} characters`);
  if (PRIVATE_ENDS.includes(labels.at(-1) ?? '')) {
    throw badRequest('domain', `must not end with .${labels.at(-1)}: such names are not public`);
  }
  if (labels.length === 1 || getDomain(domain, { allowPrivateDomains: true }) === null) {
    throw badRequest('domain', 'must not be a public suffix: anyone can register names below it');
  }
  if (own.some((origin) => new URL(origin).hostname === domain)) {
    throw badRequest('domain', 'must not be a host of this service');
  }
  return domain;
}
