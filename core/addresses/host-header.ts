/** A name or an IPv4 address, or an IPv6 address in brackets, and a port (RFC 3986, section 3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Returns whether a `Host` header names a host. RFC 9112, section 3.2, requires a 400 otherwise. */
export function isHostHeader(value: string): boolean {
  return HOST.test(value);
}
