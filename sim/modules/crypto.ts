import { world } from '../world/world.ts';

export * from 'node:crypto';

/** `node:crypto` with random bytes of the seed. */
export const randomBytes = (length: number): Buffer => world().random.bytes(length);

export function randomFillSync<T extends Uint8Array>(bytes: T): T {
  bytes.set(randomBytes(bytes.length));
  return bytes;
}

export function randomUUID(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(0x40 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function randomInt(least: number, most?: number): number {
  const [from, below] = most === undefined ? [0, least] : [least, most];
  return world().random.integer(from, below - 1);
}
