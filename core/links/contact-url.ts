/**
 * Returns the address of a button or an app as it is stored. People write numbers and lists of addresses with blanks,
 * and subjects and texts of messages, which come behind the address, as they read.
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
