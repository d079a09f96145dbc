import { world } from '../world/world.ts';

export {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto';

/** `node:crypto` with random bytes of the seed. */
export const randomBytes = (length: number): Buffer => world().random.bytes(length);

export function randomFillSync<T extends Uint8Array>(bytes: T): T {
  bytes.set(randomBytes(bytes.length));
  return bytes;
}
