import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBoundedCache } from '../caching/bounded-cache.ts';
import { allowedAddresses, type HostAddress, type ResolveHost } from './resolve-host.ts';

const ADDRESSES = { forMs: 5_000, kept: 4_096 } as const;

/** A client of hosts that others name: it connects to allowed addresses only. */
export type GuardedClient = {
  /**
   * Checks a host that is an address: Node does no lookup for it. Call it before {@link begin}.
   *
   * @throws {RefusedAddress}
   */
  check(url: URL): Promise<void>;
  /** Begins a request, whose caller writes its body and ends it. It fails with `RefusedAddress`. */
  begin(url: URL, options: { method: 'GET' | 'POST'; headers: Record<string, string> }): ClientRequest;
  /** Closes kept-alive connections. */
  close(): void;
};

/**
 * Creates a client that connects to allowed addresses only. The check is in the connection's own lookup, so a name
 * server cannot return another address after it (DNS rebinding). A kept-alive connection was checked when it was made.
 *
 * @param dependencies.keepAlive how long idle connections are kept, in milliseconds, and how many of one host; left
 *   out: none
 */
export function createGuardedClient(dependencies: {
  resolve: ResolveHost;
  allowPrivate: boolean;
  keepAlive?: { idleMs: number; socketsPerHost: number };
}): GuardedClient {
  const { keepAlive } = dependencies;
  const options = keepAlive
    ? { keepAlive: true, maxFreeSockets: keepAlive.socketsPerHost, timeout: keepAlive.idleMs }
    : { keepAlive: false };
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
  const cache = createBoundedCache<string, { addresses: HostAddress[]; until: number }>(ADDRESSES.kept);

  async function addressesOf(hostname: string): Promise<HostAddress[]> {
    const known = cache.get(hostname);
    if (known && known.until > performance.now()) return known.addresses;
    const addresses = await allowedAddresses(hostname, dependencies);
    cache.set(hostname, { addresses, until: performance.now() + ADDRESSES.forMs });
    return addresses;
  }

  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addressesOf(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };

  return {
    async check({ hostname }) {
      if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) await allowedAddresses(hostname, dependencies);
    },
    begin(url, { method, headers }) {
      const isPlain = url.protocol === 'http:';
      const agent = isPlain ? agents['http:'] : agents['https:'];
      return (isPlain ? httpRequest : httpsRequest)(url, { method, agent, lookup, headers });
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
