import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { inBlocks } from '../../core/addresses/address-blocks.ts';
import { withoutPort } from '../../core/addresses/address-port.ts';
import { memoize } from '../../core/caching/memoize.ts';
import { addressBytes, addressText, dotted, dottedBytes, mappedBytes, mappedNumber } from './addresses.ts';
import { headerName } from './header-names.ts';
import { followPeers } from './peers.ts';

/** Proxies whose trust is cached. */
const CACHED_PROXIES = 1_000;

const NAME = 'x-forwarded-for';
const FORWARDED_FOR = headerName(NAME);

/** Returns the visitor's address as 16 bytes. Call it within the request's handler. */
export type ClientAddress = (req: HttpRequest, res: HttpResponse) => Uint8Array;

/**
 * Most proxies append to the client's `X-Forwarded-For` line or replace it. Some, such as HAProxy with `option
 * forwardfor`, add another line; then the first line is the client's claim. Reading the first line costs a tenth of
 * reading all headers.
 */
export type ClientAddresses = {
  /** Read from the first line. Redirects use it. */
  byFirstLine: ClientAddress;
  /** Read from all lines as one list. Limits by address use it. */
  byAllLines: ClientAddress;
  /**
   * Returns whether the peer is a trusted proxy; null when the request has no `X-Forwarded-For`. Reads the peer's
   * address, which is slow.
   */
  trustsForwarded(req: HttpRequest, res: HttpResponse): boolean | null;
  /** Returns whether all open connections are from trusted proxies. */
  behindProxies(): boolean;
};

/**
 * Returns readers of the client's address: the peer, or behind a trusted proxy the last address in `X-Forwarded-For`
 * that is not a trusted proxy. Addresses further left are unverified.
 *
 * @param app tracked for its peers: call this before it listens
 * @param trusted addresses and CIDR blocks of `TRUST_PROXY`
 */
export function createClientAddresses(app: TemplatedApp, trusted: readonly string[]): ClientAddresses {
  const isTrusted = trustIn(trusted);
  const peers = followPeers(app, isTrusted);
  const behindProxies = () => peers.trusted;
  const peerOf = (res: HttpResponse) => peers.only ?? mappedBytes(res.getRemoteAddress());
  if (trusted.length === 0) {
    const ofPeer: ClientAddress = (_req, res) => peerOf(res);
    return {
      byFirstLine: ofPeer,
      byAllLines: ofPeer,
      trustsForwarded: (req) => (firstLine(req) === '' ? null : false),
      behindProxies,
    };
  }

  function addressBy(hopsOf: (req: HttpRequest) => string, req: HttpRequest, res: HttpResponse): Uint8Array {
    let client: Uint8Array | null = null;
    if (!peers.trusted) {
      client = peerOf(res);
      if (!isTrusted(client)) return client;
    }
    const hops = hopsOf(req);
    // The fast path: with one address, its trust changes nothing, as there is none further left.
    const only = dottedBytes(hops);
    if (only !== null) return only;
    for (let end = hops.length; end > 0; ) {
      const comma = hops.lastIndexOf(',', end - 1);
      const next = addressBytes(withoutPort(hops.slice(comma + 1, end).trim()));
      if (next === null) break;
      client = next;
      if (comma < 0 || !isTrusted(client)) break;
      end = comma;
    }
    return client ?? peerOf(res);
  }

  return {
    byFirstLine: (req, res) => addressBy(firstLine, req, res),
    byAllLines: (req, res) => addressBy(allLines, req, res),
    trustsForwarded: (req, res) =>
      firstLine(req) === '' ? null : isTrusted(mappedBytes(res.getRemoteAddress())),
    behindProxies,
  };
}

function firstLine(req: HttpRequest): string {
  return req.getHeader(FORWARDED_FOR);
}

function allLines(req: HttpRequest): string {
  const lines: string[] = [];
  req.forEach((name, value) => {
    if (name === NAME) lines.push(value);
  });
  return lines.join(',');
}

/** Returns whether 16 bytes are the address of a trusted proxy. */
function trustIn(trusted: readonly string[]): (address: Uint8Array) => boolean {
  if (trusted.length === 0) return () => false;
  const isProxy = inBlocks(trusted);
  const isTrustedFour = memoize<boolean, number>((number) => isProxy(dotted(number)), CACHED_PROXIES);
  const isTrustedSix = memoize(isProxy, CACHED_PROXIES);
  return (address) => {
    const number = mappedNumber(address);
    return number === null ? isTrustedSix(addressText(address)) : isTrustedFour(number);
  };
}
