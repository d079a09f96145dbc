import ipaddr from 'ipaddr.js';

/**
 * The addresses that a webhook may be delivered to: addresses that the IANA special-purpose registries call globally
 * reachable, and ordinary unicast. `ipaddr.js` parses and compares; its `range()` lacks some rows of the registries.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */

const NOT_GLOBAL_4 = blocks([
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // carriers' NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays, withdrawn
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and the broadcast
]);

/** Globally reachable entries within a block that is not globally reachable. */
const GLOBAL_4 = blocks(['192.0.0.9/32', '192.0.0.10/32']);

/** All allocated unicast. Loopback, link-local, unique-local, mapped forms and multicast are outside. */
const UNICAST_6 = blocks(['2000::/3']);

const NOT_GLOBAL_6 = blocks([
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address in disguise
  '3fff::/20', // documentation
]);

const GLOBAL_6 = blocks([
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
]);

/** NAT64: the last 32 bits are the IPv4 address behind it. Global if that address is. */
const NAT64 = blocks(['64:ff9b::/96']);

type Block = ReturnType<typeof ipaddr.parseCIDR>;

/** Returns a function that parses the blocks when it is first called. */
function blocks(texts: readonly string[]): () => readonly Block[] {
  let parsed: readonly Block[] | undefined;
  return () => {
    parsed ??= texts.map((text) => ipaddr.parseCIDR(text));
    return parsed;
  };
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, list: () => readonly Block[]): boolean {
  return list().some((block) => address.kind() === block[0].kind() && address.match(block));
}

/**
 * Returns whether an address is globally reachable; false for any other text.
 *
 * @param text an IPv4 address of four decimal numbers, or an IPv6 address; a zone makes it local
 */
export function isGloballyReachable(text: string): boolean {
  if (text.includes('%')) return false;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return isGlobal4(ipaddr.IPv4.parse(text));
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  if (isIn(address, NAT64)) return isGlobal4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  if (!isIn(address, UNICAST_6)) return false;
  return isIn(address, GLOBAL_6) || !isIn(address, NOT_GLOBAL_6);
}

function isGlobal4(address: ipaddr.IPv4): boolean {
  return isIn(address, GLOBAL_4) || !isIn(address, NOT_GLOBAL_4);
}
