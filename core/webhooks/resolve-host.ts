import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isGloballyReachable } from './public-addresses.ts';

export type HostAddress = { address: string; family: 4 | 6 };

/** Returns all addresses of a host name. Rejects when it has none. */
export type ResolveHost = (hostname: string) => Promise<HostAddress[]>;

/** Thrown for a host with an address that deliveries must not reach. */
export class RefusedAddress extends Error {
  constructor(hostname: string, address: string) {
    super(
      hostname === address
        ? `${address} is not a globally reachable address`
        : `${hostname} resolves to ${address}, which is not a globally reachable address`,
    );
    this.name = 'RefusedAddress';
  }
}

const QUERY_MS = 2_000;
const TRIES = 2;
const LOOPBACK: HostAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** Codes of a name server that knows the name or its absence; any other means no response. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Creates a resolver that queries the name servers directly. The system's `getaddrinfo` blocks one of four threads,
 * which file reads need too: a few dead name servers would stop all deliveries and the log. It is called only for names
 * that no server knows, such as those of a hosts file, one at a time.
 */
export function createHostResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  let systemLookup = Promise.resolve();

  function lookUpInSystem(hostname: string): Promise<HostAddress[]> {
    const addresses = systemLookup.then(() => lookup(hostname, { all: true })) as Promise<HostAddress[]>;
    systemLookup = addresses.then(
      () => undefined,
      () => undefined,
    );
    return addresses;
  }

  return async function resolveHost(hostname) {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: HostAddress[] = [
      ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 as const })),
      ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    for (const result of [four, six]) {
      if (result.status === 'rejected' && !NO_SUCH_NAME.has(codeOf(result.reason))) throw result.reason;
    }
    return lookUpInSystem(hostname);
  };
}

/**
 * Returns the addresses that a delivery to this host may connect to: all or none, since one address that is not
 * globally reachable rejects the host.
 *
 * @param hostname of a URL: a name, an IPv4 address, or an IPv6 address in brackets
 * @throws {RefusedAddress}; what `resolve` throws
 */
export async function allowedAddresses(
  hostname: string,
  { resolve, allowPrivate }: { resolve: ResolveHost; allowPrivate: boolean },
): Promise<HostAddress[]> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(bare);
  const addresses = isLocalhost(bare)
    ? LOOPBACK
    : family === 0
      ? await resolve(bare)
      : [{ address: bare, family: family === 4 ? (4 as const) : (6 as const) }];
  if (addresses.length === 0) throw new Error(`${bare} has no address`);
  const refused = addresses.find(({ address }) => !allowPrivate && !isGloballyReachable(address));
  if (refused) throw new RefusedAddress(bare, refused.address);
  return addresses;
}

/** RFC 6761: these names always resolve to this machine; a name server must not be asked. */
function isLocalhost(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
