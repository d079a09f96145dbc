import { BlockList, isIP } from 'node:net';

/** Returns whether the text is an address, or a block of addresses in CIDR notation, of IPv4 or IPv6. */
export function isAddressBlock(text: string): boolean {
  const slash = text.indexOf('/');
  const family = isIP(slash < 0 ? text : text.slice(0, slash));
  if (family === 0 || slash < 0) return family !== 0;
  const prefix = text.slice(slash + 1);
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

/**
 * Returns a function that tells whether an address is in any of the blocks; false for any other text. An IPv4 address
 * may be written as IPv6 (`::ffff:192.0.2.1`).
 *
 * @param blocks each as {@link isAddressBlock} accepts it
 */
export function inBlocks(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', prefix] = block.split('/');
    const [family, bits] = isIP(address) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
    list.addSubnet(address, prefix === undefined ? bits : Number(prefix), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}
