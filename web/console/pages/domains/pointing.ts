import { isLoopback } from '../../../../core/addresses/loopback.ts';

/** The records that lead a domain's visitors to the service. */
export type Pointing =
  | { kind: 'records'; records: { type: 'A' | 'AAAA' | 'CNAME'; value: string }[]; note: string }
  /** The service has no public address yet. */
  | { kind: 'no-address' };

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Returns the records that lead visitors of a domain to the short-link origin. A CNAME can't name an address, and no
 * visitor's machine reaches a loopback address.
 */
export function pointingOf(domain: string, shortUrl: string): Pointing {
  const { hostname } = new URL(shortUrl);
  if (isLoopback(hostname)) return { kind: 'no-address' };
  if (IPV4.test(hostname)) {
    const note = 'If the server has an IPv6 address too, add an AAAA record with it.';
    return { kind: 'records', records: [{ type: 'A', value: hostname }], note };
  }
  if (hostname.startsWith('[')) {
    const note = 'If the server has an IPv4 address too, add an A record with it.';
    return { kind: 'records', records: [{ type: 'AAAA', value: hostname.slice(1, -1) }], note };
  }
  const [label = ''] = domain.split('.');
  const note =
    domain.split('.').length === 2
      ? `Most providers allow no CNAME on ${domain} itself: set A and AAAA records with the addresses of ${hostname} there.`
      : `Some providers want names without the domain that you manage there, such as ${label} and _hoplog.${label}.`;
  return { kind: 'records', records: [{ type: 'CNAME', value: hostname }], note };
}
