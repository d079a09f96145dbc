import { createHmac, timingSafeEqual } from 'node:crypto';
import { type DeliveryHeaders, SignatureProblem } from './connector.ts';

/** Checks of signatures that several providers' schemes share. */

/** Returns a header that must be there once. @throws {SignatureProblem} */
export function headerOf(headers: DeliveryHeaders, name: string): string {
  const value = headers[name];
  if (typeof value !== 'string' || value === '')
    throw new SignatureProblem(`the header \`${name}\` is missing`);
  return value;
}

/** Returns the HMAC-SHA256 of parts of a message. @param key text is used as its UTF-8 bytes */
export function hmacOf(key: string | Buffer, parts: readonly (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** `Buffer.from` skips what is not of the encoding. */
const ENCODED = { hex: /^[0-9a-f]+$/i, base64: /^[0-9a-z+/]+={0,2}$/i };

/**
 * Requires that one of the given signatures is the expected one, in constant time.
 *
 * @param name of the header, for the error
 * @throws {SignatureProblem}
 */
export function requireSignature(
  name: string,
  expected: Buffer,
  given: readonly string[],
  encoding: 'hex' | 'base64',
): void {
  const isSame = (text: string) => {
    if (!ENCODED[encoding].test(text)) return false;
    const bytes = Buffer.from(text, encoding);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  };
  if (!given.map(isSame).includes(true)) {
    throw new SignatureProblem(`the header \`${name}\` does not match the body and the signing secret`);
  }
}

/**
 * Requires that a delivery was signed lately.
 *
 * @param seconds since the epoch, as text
 * @param tolerance seconds, before and after now
 * @throws {SignatureProblem}
 */
export function requireRecent(name: string, seconds: string, tolerance: number, now: Date): void {
  const age = Math.floor(now.getTime() / 1_000) - Number(seconds);
  if (!/^\d{1,12}$/.test(seconds) || Math.abs(age) > tolerance) {
    throw new SignatureProblem(
      `the timestamp of the header \`${name}\` is more than ${tolerance} seconds off`,
    );
  }
}
