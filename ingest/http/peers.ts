import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { mappedBytes } from './addresses.ts';

/**
 * Peers of the open connections. The address is read once a connection, since reading it for each request takes a
 * system call and memory outside the heap.
 *
 * A closed connection does not say which peer it had, so this holds until no connection is open.
 */
export type Peers = {
  /** The only peer of all open connections, such as a proxy; null when there are several. */
  readonly only: Uint8Array | null;
  /** All open connections are from trusted proxies. */
  readonly trusted: boolean;
};

/**
 * Tracks the peers of an app. Call it before the app listens.
 *
 * @param isTrusted whether an address is a trusted proxy's
 */
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

/** @returns null when the peer has gone */
function peerOf(res: HttpResponse): Uint8Array | null {
  const binary = res.getRemoteAddress();
  return binary.byteLength === 0 ? null : mappedBytes(binary);
}

function same(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
