/** Marks that text from a mail, a chat or a document has around an address. */
const AROUND = /^[\s\u200b\ufeff"'`“”‘’„«»‹›<>]+|[\s\u200b\ufeff"'`“”‘’„«»‹›<>]+$/gu;
const LINE_BREAKS = /[\t\r\n\u200b\ufeff]+/g;
const WITH_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A host with a dot, or `localhost`; then a port, a path, a query, or nothing. */
const HOST_FIRST = /^(?:[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+|localhost)(?::\d+)?(?:[/?#].*)?$/iu;

/**
 * Returns the URL that a person meant: without marks around it and line breaks in it, and with `https://` before a
 * host. The API refuses any other text, which is returned without those marks.
 */
export function cleanAddress(text: string): string {
  const bare = text.replace(AROUND, '').replace(LINE_BREAKS, '');
  if (bare.startsWith('//')) return `https:${bare}`.replaceAll(' ', '%20');
  if (WITH_SCHEME.test(bare)) return bare.replaceAll(' ', '%20');
  return HOST_FIRST.test(bare) ? `https://${bare.replaceAll(' ', '%20')}` : bare;
}

/** Returns the http(s) URL that a text means, as {@link cleanAddress} does; null for any other text. */
export function webAddressIn(text: string): string | null {
  const address = cleanAddress(text);
  return /^https?:\/\/\S+$/.test(address) && URL.canParse(address) ? address : null;
}

/** Returns a web or app URL as {@link cleanAddress} does; an ellipsis for any other text. */
export function shownAddress(text: string): string {
  const address = cleanAddress(text);
  return WITH_SCHEME.test(address) && !/\s/.test(address) && URL.canParse(address) ? address : '…';
}

/** Returns the host of an address; an empty text where there is none. */
export function hostOf(address: string): string {
  const url = URL.parse(cleanAddress(address));
  return url?.hostname ?? '';
}

/** Returns whether an address is on a site: its domain, or a name below it. */
export function isOnSite(address: string, domain: string): boolean {
  const host = hostOf(address);
  const site = domain.toLowerCase();
  return host === site || host.endsWith(`.${site}`);
}

/** Returns a name for a link to an address: the last part of its path in words, else its host. */
export function proposedName(address: string): string {
  const url = URL.parse(cleanAddress(address));
  if (url === null) return '';
  const last = url.pathname.split('/').findLast((part) => part !== '') ?? '';
  const words = decoded(last)
    .replace(/\.\w{2,5}$/, '')
    .replaceAll(/[-_+\s]+/g, ' ')
    .trim();
  if (!/\p{L}{2}/u.test(words)) return url.hostname.replace(/^www\./, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`.slice(0, 200);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
