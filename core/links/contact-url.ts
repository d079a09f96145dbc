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
  const kept = isMail ? address.replaceAll(/, +/g, ',') : address.replaceAll(/[ \u00a0]/g, '');
  return kept + rest.replaceAll(' ', '%20').replaceAll('\u00a0', '%C2%A0');
}
