import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { withoutPort } from './address-port.ts';

/**
 * A keyed hash of a network address, to compare two calls of one workspace by: the address itself can't be had back
 * without the key, and the hashes of two workspaces can't be joined. An IPv4 address counts whole, of an IPv6
 * address the first 64 bits: a household keeps those while its devices change the rest.
 *
 * @param key the deployment's `addressHash` secret
 * @param address as the server or a proxy gives it, IPv4, IPv6 or IPv4 mapped into IPv6, perhaps with a port
 * @returns null when the text is no address
 */
export function addressHash(key: Uint8Array, workspaceId: string, address: string): Buffer | null {
  const [bare = ''] = withoutPort(address).split('%');
  const family = isIP(bare);
  if (family === 0) return null;
  const network = networkOf(family === 4 ? `::ffff:${bare}` : bare);
  return createHmac('sha256', key).update(`${workspaceId} ${network}`).digest();
}

function networkOf(address: string): string {
  // The URL standard gives every spelling of an address one form, in lower case without leading zeros.
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = compressed.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return (isMapped ? groups : groups.slice(0, 4)).join(':');
}
