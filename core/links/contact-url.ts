/** Blanks that people type and paste: spaces of each width, tabs, and line breaks. */
const BLANKS = /\s+/g;
/** The comma between two addresses of mail, and the colon before the first one. */
const AROUND_SEPARATORS = /\s*([:,])\s*/g;

/**
 * Returns the address of a button or an app as it is stored. People type blanks into numbers and lists of addresses,
 * where they are removed. Subjects and texts of messages, which follow the address, keep theirs.
 */
export function contactUrl(url: string): string {
  const [, scheme] = /^(mailto|tel|sms):/i.exec(url) ?? [];
  if (scheme === undefined) return url;
  const isMail = scheme.toLowerCase() === 'mailto';
  const end = url.search(isMail ? /\?|$/ : /[?;&]|$/);
  const [address, rest] = [url.slice(0, end), url.slice(end)];
  const kept = isMail ? address.trim().replaceAll(AROUND_SEPARATORS, '$1') : address.replaceAll(BLANKS, '');
  return kept + rest.replaceAll(BLANKS, encodeURIComponent);
}
