/** Offset of the IPv4 address in the 16 bytes of a mapped one (`::ffff:a.b.c.d`). */
export const IPV4_AT = 12;

/** Returns whether 16 bytes are an IPv4 address mapped into IPv6. */
export function isMappedIpv4(address: Uint8Array): boolean {
  for (let at = 0; at < 10; at++) if (address[at] !== 0) return false;
  return address[10] === 0xff && address[11] === 0xff;
}
