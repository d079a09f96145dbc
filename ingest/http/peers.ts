import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { mappedBytes } from './addresses.ts';

/**
 * Who holds connections open. The server tells a peer at each request too, but that is some 6 % of what a redirect costs: a
 * call of the system, and memory outside of the heap that has to be freed again. Here it is asked once a connection.
 *
 * A closed connection does not say whose it was, so what is known holds until none is open.
 */
export type Peers = {
  /** The address of whoever holds every open connection, as a proxy in front does; null when there are several. */
  readonly only: Uint8Array | null;
  /** Every open connection is a trusted proxy's. */
  readonly trusted: boolean;
};

/** Follows the connections of an app. To be called before it listens. @param isTrusted whether it is a proxy's address */
export function followPeers(app: TemplatedApp, isTrusted: (address: Uint8Array) => boolean): Peers {
  const peers = { only: null as Uint8Array | null, trusted: false };
  let open = 0;
  function follow(res: HttpResponse, change: number): void {
    open += change;
    if (change < 0) return;
    const address = peerOf(res);
    const first = open === 1;
    peers.trusted = (first || peers.trusted) && address !== null && isTrusted(address);
    if (first) peers.only = address;
    else if (address === null || peers.only === null || !same(peers.only, address)) peers.only = null;
  }
  app.filter(follow);
  return peers;
}

/** Null when the peer has gone already. */
function peerOf(res: HttpResponse): Uint8Array | null {
  const binary = res.getRemoteAddress();
  return binary.byteLength === 0 ? null : mappedBytes(binary);
}

function same(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
