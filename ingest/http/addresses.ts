import { isIP } from 'node:net';

/**
 * Returns the 16 bytes of an address, IPv4 mapped into IPv6 (RFC 4291 2.5.5.2); null when the text is not an address.
 * A zone (`%eth0`) is ignored.
 */
export function addressBytes(text: string): Uint8Array | null {
  const percent = text.indexOf('%');
  const address = percent < 0 ? text : text.slice(0, percent);
  return dottedBytes(address) ?? (isIP(address) === 6 ? sixteen(address) : null);
}

/** Returns the 16 bytes of an address of 4 or 16 bytes. */
export function mappedBytes(binary: ArrayBuffer): Uint8Array {
  const given = new Uint8Array(binary);
  if (given.length === 16) return given;
  const bytes = new Uint8Array(16);
  bytes[10] = bytes[11] = 0xff;
  // Not `set`: it would move these bytes from the heap into a buffer outside.
  if (given.length === 4) for (let at = 0; at < 4; at++) bytes[12 + at] = given[at] ?? 0;
  return bytes;
}

/** Returns the text of 16 bytes: dotted for a mapped IPv4 address, else eight groups. */
export function addressText(bytes: Uint8Array): string {
  const four = mappedNumber(bytes);
  if (four !== null) return dotted(four);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const groups: string[] = [];
  for (let at = 0; at < 16; at += 2) groups.push(view.getUint16(at).toString(16));
  return groups.join(':');
}

/** Returns the number of a mapped IPv4 address; null for others. */
export function mappedNumber(bytes: Uint8Array): number | null {
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return null;
  if (bytes[10] !== 0xff || bytes[11] !== 0xff) return null;
  const byte = (at: number) => bytes[at] ?? 0;
  return ((byte(12) << 24) | (byte(13) << 16) | (byte(14) << 8) | byte(15)) >>> 0;
}

/** Returns the text of an IPv4 address. */
export function dotted(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`;
}

const DOT = 46;
const ZERO = 48;

/**
 * Returns the 16 bytes of an IPv4 address as `net.isIPv4` accepts it, else null. Not cached: behind a proxy each
 * visitor has another one.
 */
export function dottedBytes(text: string): Uint8Array | null {
  let number = 0;
  let part = 0;
  let digits = 0;
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      if (digits === 0 || part === 3) return null;
      number = (number << 8) | value;
      part += 1;
      digits = value = 0;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9 || (digits > 0 && value === 0)) return null;
    digits += 1;
    value = value * 10 + digit;
    if (value > 255) return null;
  }
  return part < 3 || digits === 0 ? null : mapped((number << 8) | value);
}

/** Returns the 16 bytes of an IPv4 address. */
function mapped(number: number): Uint8Array {
  const bytes = new Uint8Array(16);
  bytes[10] = bytes[11] = 0xff;
  bytes[12] = number >>> 24;
  bytes[13] = number >>> 16;
  bytes[14] = number >>> 8;
  bytes[15] = number;
  return bytes;
}

function sixteen(address: string): Uint8Array {
  const [head = '', tail] = address.split('::');
  const bytes = new Uint8Array(16);
  const left = groupBytes(head);
  bytes.set(left, 0);
  if (tail !== undefined) {
    const right = groupBytes(tail);
    bytes.set(right, 16 - right.length);
  }
  return bytes;
}

function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
