import { randomBytes } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether `text` is a UUID of any version in its 36-character form. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Returns the 16 bytes of a UUID. The caller has checked it with {@link isUuid}. */
export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** Returns the 36-character, lower-case form of the 16 bytes at `offset`. */
export function bytesToUuid(bytes: Uint8Array, offset = 0): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset + offset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

let lastMillis = 0;
let counter = 0;

/**
 * Returns a UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, a 12-bit counter that orders the ids of a process within
 * a millisecond, 62 random bits.
 */
export function uuidv7(): string {
  const now = Date.now();
  if (now > lastMillis) {
    lastMillis = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMillis += 1;
    counter = 0;
  }
  const bytes = randomBytes(16);
  bytes.writeUIntBE(lastMillis, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytesToUuid(bytes);
}

/**
 * Returns the id of a click: a UUIDv7 made of the click's nanosecond timestamp, which is unique in a deployment
 * (microseconds unique within a stream, then the stream's ordinal in the last three digits). So the id needs no
 * column, and every tier derives the same one.
 *
 * @param tsNanos the click's `ts` in nanoseconds since the epoch
 */
export function clickId(tsNanos: bigint): string {
  const millis = tsNanos / 1_000_000n;
  const rest = tsNanos % 1_000_000n; // 20 bits
  const mixed = BigInt.asUintN(54, (tsNanos ^ (tsNanos >> 31n)) * 0x9e3779b97f4a7c15n);
  const high = (millis << 16n) | 0x7000n | (rest >> 8n);
  const low = (0b10n << 62n) | ((rest & 0xffn) << 54n) | mixed;
  const hex = high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
