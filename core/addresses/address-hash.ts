import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { withoutPort } from './address-port.ts';

/**
 * Returns a keyed hash of a network address, to compare two calls of one workspace. Without the key the address can't
 * be recovered, and hashes of two workspaces can't be compared. It covers a whole IPv4 address and the first 64 bits
 * of an IPv6 address, which a household keeps.
 *
 * @param key the deployment's `addressHash` secret
 * @param address as the server or a proxy gives it: IPv4, IPv6 or IPv4 mapped into IPv6, with or without a port
 * @returns null when the text is not an address
 */
export function addressHash(key: Uint8Array, workspaceId: string, address: string): Buffer | null {
  const [bare = ''] = withoutPort(address).split('%');
  const family = isIP(bare);
  if (family === 0) return null;
  const network = networkOf(family === 4 ? `::ffff:${bare}` : bare);
  return createHmac('sha256', key).update(`${workspaceId} ${network}`).digest();
}

function networkOf(address: string): string {
  // The URL standard has one form for all spellings: lower case without leading zeros.
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = compressed.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return (isMapped ? groups : groups.slice(0, 4)).join(':');
}
