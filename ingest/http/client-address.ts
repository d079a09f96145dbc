import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../../core/config.ts';
import { remembered } from '../../core/remembered.ts';
import { addressBytes, addressText, dotted, mappedBytes, mappedNumber } from './addresses.ts';

/** Proxies of which it is remembered whether they are trusted. */
const REMEMBERED = 1_000;

/** The visitor's address as 16 bytes. To be called while the request is being handled. */
export type ClientAddress = (req: HttpRequest, res: HttpResponse) => Uint8Array;

/**
 * The peer's address or, when the peer is a trusted proxy, the last address in `X-Forwarded-For` that is no trusted
 * proxy itself: whatever stands further left was said by somebody whom nobody vouches for.
 *
 * @param trusted addresses and CIDR blocks of `TRUST_PROXY`
 * @throws {ConfigError} naming the one that is neither
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return (_req, res) => mappedBytes(res.getRemoteAddress());
  const proxies = blockList(trusted);
  const isTrustedFour = remembered<boolean, number>(
    (number) => proxies.check(dotted(number), 'ipv4'),
    REMEMBERED,
  );
  const isTrustedSix = remembered((address) => proxies.check(address, 'ipv6'), REMEMBERED);
  const isTrusted = (address: Uint8Array) => {
    const number = mappedNumber(address);
    return number === null ? isTrustedSix(addressText(address)) : isTrustedFour(number);
  };

  return (req, res) => {
    let client = mappedBytes(res.getRemoteAddress());
    if (!isTrusted(client)) return client;
    const hops = req.getHeader('x-forwarded-for').split(',');
    for (let hop = hops.length - 1; hop >= 0; hop--) {
      const next = addressBytes(withoutPort((hops[hop] ?? '').trim()));
      if (next === null) break;
      client = next;
      // Nobody stands further left of the first: whether it is one of ours changes nothing.
      if (hop > 0 && !isTrusted(client)) break;
    }
    return client;
  };
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  if (text.startsWith('[')) return text.slice(1, text.indexOf(']'));
  const colon = text.indexOf(':');
  return colon > 0 && text.indexOf(':', colon + 1) < 0 ? text.slice(0, colon) : text;
}

function blockList(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address);
    const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix);
    const valid = family !== 0 && Number.isInteger(bits) && bits >= 0 && bits <= (family === 4 ? 32 : 128);
    if (!valid || prefix === '') {
      throw new ConfigError('TRUST_PROXY', entry, 'must be addresses or CIDR blocks, with commas between');
    }
    list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
