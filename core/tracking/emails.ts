const ADDRESS = /^[^\s@,;<>()"\\]+@[^\s@.,;<>()"\\]+(\.[^\s@.,;<>()"\\]+)+$/;

/** Longest address that SMTP can carry in a command (RFC 5321 4.5.3.1.3, without the angle brackets). */
export const EMAIL_LIMIT = 254;

/** Hosts that ignore dots in the name: `a.b@gmail.com` and `ab@googlemail.com` are one mailbox. */
const GMAIL_HOSTS = new Set(['gmail.com', 'googlemail.com']);

/** Whether `text`, trimmed, has the form `name@host.tld`. Whether it exists only a delivery shows. */
export function isEmail(text: string): boolean {
  const address = text.trim();
  return address.length <= EMAIL_LIMIT && ADDRESS.test(address);
}

/** The form in which addresses identify a person: trimmed, lower case. Idempotent. */
export function normaliseEmail(text: string): string {
  return text.trim().toLowerCase();
}

/**
 * The form in which addresses are compared for self-referral: as {@link normaliseEmail}, without a plus tag, and
 * at gmail without dots. Stricter than identity on purpose, so never store it as the person's address.
 */
export function selfReferralEmail(text: string): string {
  const address = normaliseEmail(text);
  const at = address.lastIndexOf('@');
  if (at < 1) return address;
  const plus = address.indexOf('+');
  // A name that begins with its plus has nothing before the tag: keep it whole.
  const name = address.slice(0, plus > 0 && plus < at ? plus : at);
  const host = address.slice(at + 1);
  if (!GMAIL_HOSTS.has(host)) return `${name}@${host}`;
  return `${name.replaceAll('.', '')}@gmail.com`;
}
