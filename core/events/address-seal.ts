import { createCipheriv, createHmac } from 'node:crypto';
import { IPV4_AT, isMappedIpv4 } from '../addresses/mapped-ipv4.ts';
import { uuidToBytes } from '../ids.ts';

/** Bytes of an address, and of the pad that seals it. */
export const ADDRESS_BYTES = 16;
/** Bytes of an IPv4 address in the log. Its pad is the last four bytes of an address's. */
export const IPV4_BYTES = ADDRESS_BYTES - IPV4_AT;

/** A sealed address as avsc writes and reads it: by the name of its type in the schema of clicks. */
export type SealedAddress = { 'hoplog.SealedIpv4': Buffer } | { 'hoplog.SealedAddress': Buffer };

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
 * XORs `count` bytes of `from` with those of the pads, which seals or opens an address, or its IPv4 part.
 *
 * @param into receives the result from `intoAt` on
 */
export function applyPad(
  from: Uint8Array,
  fromAt: number,
  pads: Uint8Array,
  padAt: number,
  into: Uint8Array,
  intoAt: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) into[intoAt + i] = (from[fromAt + i] ?? 0) ^ (pads[padAt + i] ?? 0);
}

/** Seals an address of 16 bytes with the pad at `padAt`. */
export function sealAddress(address: Uint8Array, pads: Uint8Array, padAt: number): SealedAddress {
  const isIpv4 = isMappedIpv4(address);
  const skipped = isIpv4 ? IPV4_AT : 0;
  const sealed = Buffer.alloc(address.length - skipped);
  applyPad(address, skipped, pads, padAt + skipped, sealed, 0, sealed.length);
  return isIpv4 ? { 'hoplog.SealedIpv4': sealed } : { 'hoplog.SealedAddress': sealed };
}

/** Opens an address that {@link sealAddress} sealed, or one of an earlier version: 16 bytes. */
export function openAddress(sealed: SealedAddress, pads: Uint8Array, padAt: number): Uint8Array {
  const address = Buffer.alloc(ADDRESS_BYTES);
  if ('hoplog.SealedIpv4' in sealed) openIpv4(sealed['hoplog.SealedIpv4'], 0, pads, padAt, address);
  else applyPad(sealed['hoplog.SealedAddress'], 0, pads, padAt, address, 0, ADDRESS_BYTES);
  return address;
}

/** Opens the sealed IPv4 address of `bytes` at `at`, mapped into the 16 bytes of `into`. */
export function openIpv4(
  bytes: Uint8Array,
  at: number,
  pads: Uint8Array,
  padAt: number,
  into: Uint8Array,
): void {
  for (let n = 0; n < IPV4_AT; n++) into[n] = n < 10 ? 0 : 0xff;
  applyPad(bytes, at, pads, padAt + IPV4_AT, into, IPV4_AT, IPV4_BYTES);
}
