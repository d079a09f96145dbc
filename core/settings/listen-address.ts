import { existsSync } from 'node:fs';

/** On Linux the file is missing when the kernel was started without IPv6 (`ipv6.disable=1`). */
const IPV6 = '/proc/net/if_inet6';

/**
 * Returns the address to listen on for a setting. `::` is every address of both families, and becomes `0.0.0.0` where
 * the kernel has no IPv6, because it is not an address there.
 *
 * @param hasIpv6 for tests
 */
export function listenAddress(
  text: string,
  hasIpv6 = process.platform !== 'linux' || existsSync(IPV6),
): string {
  return text === '::' && !hasIpv6 ? '0.0.0.0' : text;
}
