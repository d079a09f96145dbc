import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { inBlocks } from '../../core/address-blocks.ts';
import { withoutPort } from '../../core/address-port.ts';
import { remembered } from '../../core/remembered.ts';
import { addressBytes, addressText, dotted, dottedBytes, mappedBytes, mappedNumber } from './addresses.ts';
import { headerName } from './header-names.ts';
import { followPeers } from './peers.ts';

/** Proxies of which it is remembered whether they are trusted. */
const REMEMBERED = 1_000;

const FORWARDED_FOR = headerName('x-forwarded-for');

/** The visitor's address as 16 bytes. To be called while the request is being handled. */
export type ClientAddress = (req: HttpRequest, res: HttpResponse) => Uint8Array;

/**
 * The peer's address or, when the peer is a trusted proxy, the last address in `X-Forwarded-For` that is no trusted
 * proxy itself: whatever stands further left was said by somebody whom nobody vouches for.
 *
 * @param app the peers of its connections are followed: to be called before it listens
 * @param trusted addresses and CIDR blocks of `TRUST_PROXY`
 */
export function createClientAddress(app: TemplatedApp, trusted: readonly string[]): ClientAddress {
  const isTrusted = trustIn(trusted);
  const peers = followPeers(app, isTrusted);
  const peerOf = (res: HttpResponse) => peers.only ?? mappedBytes(res.getRemoteAddress());
  if (trusted.length === 0) return (_req, res) => peerOf(res);

  return (req, res) => {
    let client: Uint8Array | null = null;
    if (!peers.trusted) {
      client = peerOf(res);
      if (!isTrusted(client)) return client;
    }
    const hops = req.getHeader(FORWARDED_FOR);
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
  };
}

/** Whether these 16 bytes are the address of one of `trusted`. */
function trustIn(trusted: readonly string[]): (address: Uint8Array) => boolean {
  if (trusted.length === 0) return () => false;
  const isProxy = inBlocks(trusted);
  const isTrustedFour = remembered<boolean, number>((number) => isProxy(dotted(number)), REMEMBERED);
  const isTrustedSix = remembered(isProxy, REMEMBERED);
  return (address) => {
    const number = mappedNumber(address);
    return number === null ? isTrustedSix(addressText(address)) : isTrustedFour(number);
  };
}
