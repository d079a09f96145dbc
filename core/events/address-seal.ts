import { createCipheriv, createHmac } from 'node:crypto';
import { uuidToBytes } from '../ids.ts';

/** Bytes of an address, and of the pad that seals it. */
export const ADDRESS_BYTES = 16;

/**
 * Encrypts addresses, which are never stored in clear. Each is XORed with a pad of its own: AES-256 in counter mode
 * under a key of the stream. The counter is the event's sequence, which is never used twice. Pads of consecutive
 * events are consecutive cipher blocks, so one call makes thousands of them.
 */
export type AddressSealer = {
  /** Returns the pads of `count` events from `firstSequence` on, 16 bytes each, back to back. */
  pads(streamId: string, firstSequence: bigint, count: number): Buffer;
};

/** @param key the deployment's `address_key`, 32 bytes */
export function createAddressSealer(key: Uint8Array): AddressSealer {
  if (key.length !== 32) throw new RangeError(`the address key must have 32 bytes, not ${key.length}`);
  const streamKeys = new Map<string, Buffer>();
  const streamKey = (streamId: string): Buffer => {
    const known = streamKeys.get(streamId);
    if (known) return known;
    const made = createHmac('sha256', key).update('hoplog address').update(uuidToBytes(streamId)).digest();
    streamKeys.set(streamId, made);
    return made;
  };
  return {
    pads(streamId, firstSequence, count) {
      const counter = Buffer.alloc(16);
      counter.writeBigUInt64BE(firstSequence, 8);
      const cipher = createCipheriv('aes-256-ctr', streamKey(streamId), counter);
      return cipher.update(Buffer.alloc(count * ADDRESS_BYTES));
    },
  };
}

/**
 * XORs the 16 bytes of `buffer` at `position` with the pad at `padPosition`, which seals or opens an address.
 *
 * @param into receives the result from `intoPosition` on; by default it replaces the input
 */
export function applyPad(
  buffer: Uint8Array,
  position: number,
  pads: Uint8Array,
  padPosition: number,
  into = buffer,
  intoPosition = position,
): void {
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    into[intoPosition + i] = (buffer[position + i] ?? 0) ^ (pads[padPosition + i] ?? 0);
  }
}
