import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { inBlocks } from '../../core/addresses/address-blocks.ts';
import { withoutPort } from '../../core/addresses/address-port.ts';
import { memoize } from '../../core/caching/memoize.ts';
import { addressBytes, addressText, dotted, dottedBytes, mappedBytes, mappedNumber } from './addresses.ts';
import { headerName } from './header-names.ts';
import { followPeers } from './peers.ts';

/** Limit of memoized proxies. */
const REMEMBERED = 1_000;

const NAME = 'x-forwarded-for';
const FORWARDED_FOR = headerName(NAME);

/** The visitor's address as 16 bytes. To be called while the request is being handled. */
export type ClientAddress = (req: HttpRequest, res: HttpResponse) => Uint8Array;

/**
 * Proxies put what they say behind what the client has said in the same line, or replace that; some, as HAProxy with
 * `option forwardfor`, add a line of their own, and then the first line is the client's word. The server gives the first line
 * for less than a tenth of what it takes to look through all headers, which would be a good part of a redirect.
 */
export type ClientAddresses = {
  /** By the first line: for redirects. */
  byFirstLine: ClientAddress;
  /** By all lines, as one list: for whatever is limited by address. */
  byAllLines: ClientAddress;
};

/**
 * The peer's address or, when the peer is a trusted proxy, the last address in `X-Forwarded-For` that is no trusted
 * proxy itself: whatever stands further left was said by somebody whom nobody vouches for.
 *
 * @param app the peers of its connections are followed: to be called before it listens
 * @param trusted addresses and CIDR blocks of `TRUST_PROXY`
 */
export function createClientAddresses(app: TemplatedApp, trusted: readonly string[]): ClientAddresses {
  const isTrusted = trustIn(trusted);
  const peers = followPeers(app, isTrusted);
  const peerOf = (res: HttpResponse) => peers.only ?? mappedBytes(res.getRemoteAddress());
  if (trusted.length === 0) {
    const ofPeer: ClientAddress = (_req, res) => peerOf(res);
    return { byFirstLine: ofPeer, byAllLines: ofPeer };
  }

  function addressBy(hopsOf: (req: HttpRequest) => string, req: HttpRequest, res: HttpResponse): Uint8Array {
    let client: Uint8Array | null = null;
    if (!peers.trusted) {
      client = peerOf(res);
      if (!isTrusted(client)) return client;
    }
    const hops = hopsOf(req);
    // One address and nothing around it is what most proxies send. Nobody stands further left of it: whether it is one of
    // ours changes nothing.
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

/** Whether these 16 bytes are the address of one of `trusted`. */
function trustIn(trusted: readonly string[]): (address: Uint8Array) => boolean {
  if (trusted.length === 0) return () => false;
  const isProxy = inBlocks(trusted);
  const isTrustedFour = memoize<boolean, number>((number) => isProxy(dotted(number)), REMEMBERED);
  const isTrustedSix = memoize(isProxy, REMEMBERED);
  return (address) => {
    const number = mappedNumber(address);
    return number === null ? isTrustedSix(addressText(address)) : isTrustedFour(number);
  };
}
