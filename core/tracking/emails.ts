import { domainToASCII } from 'node:url';

const ADDRESS = /^[^\s@,;<>()"\\]+@[^\s@.,;<>()"\\]+(\.[^\s@.,;<>()"\\]+)+$/;

/** Characters without a width: they change an address's text without changing how it looks. */
const ZERO_WIDTH = /\p{Default_Ignorable_Code_Point}/gu;

/** Longest address that SMTP can carry in a command (RFC 5321 4.5.3.1.3, without the angle brackets). */
export const EMAIL_LIMIT = 254;

/** Hosts that ignore dots in the name: `a.b@gmail.com` and `ab@googlemail.com` are one mailbox. */
const GMAIL_HOSTS = new Set(['gmail.com', 'googlemail.com']);

/** Returns whether `text`, trimmed, has the form `name@host.tld`. Only a delivery shows whether it exists. */
export function isEmail(text: string): boolean {
  const address = text.replace(ZERO_WIDTH, '').trim();
  return address.length <= EMAIL_LIMIT && ADDRESS.test(address);
}

/**
 * Returns the form in which addresses identify a person: trimmed, lower case, in Unicode's form NFC, without zero-width
 * characters, with the host in punycode. Idempotent.
 */
export function normalizeEmail(text: string): string {
  const address = text.replace(ZERO_WIDTH, '').trim().toLowerCase().normalize('NFC');
  const at = address.lastIndexOf('@');
  if (at < 0) return address;
  const host = address.slice(at + 1);
  // Empty: not a host name. It stays as it is, and fails at delivery.
  return `${address.slice(0, at)}@${domainToASCII(host) || host}`;
}

/**
 * Returns the form in which addresses are compared for self-referral: as {@link normalizeEmail}, without a plus tag,
 * and at Gmail without dots. Do not store it: identity is less strict.
 */
export function selfReferralEmail(text: string): string {
  const address = normalizeEmail(text);
  const at = address.lastIndexOf('@');
  if (at < 1) return address;
  const plus = address.indexOf('+');
  // A name that begins with its plus has nothing before the tag: keep it whole.
  const name = address.slice(0, plus > 0 && plus < at ? plus : at);
  const host = address.slice(at + 1);
  if (!GMAIL_HOSTS.has(host)) return `${name}@${host}`;
  return `${name.replaceAll('.', '')}@gmail.com`;
}
