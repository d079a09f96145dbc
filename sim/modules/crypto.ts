import { world } from '../world/world.ts';

export { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';

/** `node:crypto` with random bytes of the seed. */
export const randomBytes = (length: number): Buffer => world().random.bytes(length);
