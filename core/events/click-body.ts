import { IPV4_AT, isMappedIpv4 } from '../addresses/mapped-ipv4.ts';
import { ADDRESS_BYTES, applyPad } from './address-seal.ts';
import { ID_BYTES, linkBytes, requireId } from './click-labels.ts';
import type { ClickEvent, Unstamped } from './types.ts';

/** The version of the click's schema that {@link writeClickBody} writes. */
export const CLICK_BODY_VERSION = 1;
/** The numbers of the types of an address in the schema, as Avro writes them. */
export const ADDRESS_TYPES = { ipv4: 0, any: 2 } as const;

/** The numbers of the types of `ad` in the schema, as Avro writes them. */
export const AD_TYPES = { none: 0, ad: 2 } as const;

/** Half of a time: 28 bits, or four digits of a base-128 number. */
const HALF = 2 ** 28;
const LENGTH_BYTES = 5;

/**
 * Writes the Avro body of a click (`schemas/click.v1.avsc`), field by field, with its address sealed. Written by hand
 * because every redirect pays for it (`bench/journal.ts`). A test compares it with avsc byte for byte.
 *
 * @param pads with 16 bytes at `padAt` that seal the address
 * @returns where the body ends, or -1 when the buffer is too short for it
 * @throws TypeError when a value does not match its field's type
 */
export function writeClickBody(
  click: Unstamped<ClickEvent>,
  ts: number,
  pads: Uint8Array,
  padAt: number,
  buffer: Buffer,
  position: number,
): number {
  const { address, visitorId, referer, userAgent, language, flags, ad } = click;
  const ofLink = linkBytes(click);
  if (!Number.isSafeInteger(ts) || ts < 0) throw new TypeError(`ts must be a safe integer from 0, not ${ts}`);
  if (!Number.isInteger(flags) || flags < 0 || flags > 63)
    throw new TypeError(`flags must be an integer from 0 to 63, not ${flags}`);
  if (address.length !== ADDRESS_BYTES) throw new TypeError('an address must have 16 bytes');
  if (position + 10 + ID_BYTES + ofLink.length > buffer.length) return -1;
  let at = writeTime(ts, buffer, position);
  buffer.set(requireId(visitorId), at);
  at += ID_BYTES;
  at += buffer.write(ofLink, at, 'latin1');
  at = writeText(referer, buffer, at);
  if (at >= 0) at = writeText(userAgent, buffer, at);
  if (at >= 0) at = writeText(language, buffer, at);
  const isIpv4 = isMappedIpv4(address);
  const skipped = isIpv4 ? IPV4_AT : 0;
  const bytes = ADDRESS_BYTES - skipped;
  if (at < 0 || at + 1 + bytes + 2 > buffer.length) return -1;
  buffer[at++] = isIpv4 ? ADDRESS_TYPES.ipv4 : ADDRESS_TYPES.any;
  applyPad(address, skipped, pads, padAt + skipped, buffer, at, bytes);
  at += bytes;
  buffer[at++] = flags << 1;
  if (ad === null) {
    buffer[at++] = AD_TYPES.none;
    return at;
  }
  buffer[at++] = AD_TYPES.ad;
  at = writeText(ad.param, buffer, at);
  return at < 0 ? -1 : writeText(ad.id, buffer, at);
}

/** Writes a `long`: zigzag, seven bits a byte, the lowest first. */
function writeTime(ts: number, buffer: Buffer, position: number): number {
  let at = position;
  const high = Math.floor(ts / (HALF / 2));
  let rest = (ts % (HALF / 2)) * 2;
  if (high > 0) {
    for (let digit = 0; digit < 4; digit++) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    rest = high;
  }
  // No time is above 2 ** 58: `isSafeInteger` has rejected it.
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 128);
  }
  buffer[at++] = rest;
  return at;
}

/** Writes a `string`: its length in UTF-8, then its bytes. Lone surrogates become U+FFFD. */
function writeText(text: string, buffer: Buffer, position: number): number {
  if (typeof text !== 'string') throw new TypeError(`a text must be a string, not ${typeof text}`);
  const { length } = text;
  if (position + LENGTH_BYTES + 3 * length <= buffer.length) {
    if (length <= 21) return writeShort(text, buffer, position);
    if (length < 64) {
      const bytes = buffer.write(text, position + 1);
      if (bytes < 64) {
        buffer[position] = bytes << 1;
        return position + 1 + bytes;
      }
    }
    // A prefix of two bytes covers 64 to 8,191, and this text's UTF-8 length is in that range for any characters.
    if (length <= 2_730) {
      const bytes = buffer.write(text, position + 2);
      buffer[position] = ((bytes << 1) & 0x7f) | 0x80;
      buffer[position + 1] = bytes >> 6;
      return position + 2 + bytes;
    }
  }
  const bytes = Buffer.byteLength(text);
  let at = position;
  let prefix = bytes * 2;
  // A typed array ignores what is written past its end.
  for (; prefix > 0x7f; prefix >>>= 7) buffer[at++] = (prefix & 0x7f) | 0x80;
  buffer[at++] = prefix;
  if (at + bytes > buffer.length) return -1;
  return at + buffer.write(text, at);
}

/** Writes a text of at most 63 bytes, whose length is one byte. ASCII is written here, character by character. */
function writeShort(text: string, buffer: Buffer, position: number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) {
      const bytes = buffer.write(text, position + 1);
      buffer[position] = bytes << 1;
      return position + 1 + bytes;
    }
    buffer[position + 1 + index] = code;
  }
  buffer[position] = text.length << 1;
  return position + 1 + text.length;
}
