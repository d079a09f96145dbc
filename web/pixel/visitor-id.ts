/** Name of the query parameter that a redirect adds, and of the pixel's cookie. */
const NAME = '_vid';
/** One year, in seconds. Some browsers cap it: Safari keeps cookies of scripts for seven days. */
const MAX_AGE = 31_536_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A page's URL without `_vid`, and the visitor ID it had, if valid. */
export type Taken = { href: string; visitorId: string | null };

/**
 * Removes `_vid` from a page's URL and keeps every other character: sites may compare parameters byte for byte, so
 * nothing is re-serialized. The fragment is left alone.
 */
export function takeVisitorId(href: string): Taken {
  const hash = href.indexOf('#');
  const end = hash < 0 ? href.length : hash;
  const mark = href.indexOf('?');
  if (mark < 0 || mark > end) return { href, visitorId: null };
  let visitorId: string | null = null;
  const pieces = href.slice(mark + 1, end).split('&');
  const kept = pieces.filter((piece) => {
    if (piece !== NAME && !piece.startsWith(`${NAME}=`)) return true;
    visitorId ??= asVisitorId(piece.slice(NAME.length + 1));
    return false;
  });
  if (kept.length === pieces.length) return { href, visitorId };
  const query = kept.join('&');
  return { href: href.slice(0, mark) + (query && `?${query}`) + href.slice(end), visitorId };
}

/** The visitor ID in `document.cookie`; null if missing or not a UUID. */
export function visitorIdIn(cookies: string): string | null {
  for (const pair of cookies.split('; ')) {
    if (pair.startsWith(`${NAME}=`)) return asVisitorId(pair.slice(NAME.length + 1));
  }
  return null;
}

/** Whether `document.cookie` has a `_vid` of any form: an existing one is never replaced. */
export function hasVisitorId(cookies: string): boolean {
  return cookies.split('; ').some((pair) => pair.startsWith(`${NAME}=`));
}

/**
 * The text that sets the cookie through `document.cookie`.
 *
 * @param visitorId null removes the cookie
 * @param domain empty: this host alone
 */
export function cookieText(visitorId: string | null, domain: string, secure: boolean): string {
  return (
    `${NAME}=${visitorId ?? ''};path=/;max-age=${visitorId === null ? 0 : MAX_AGE};samesite=lax` +
    (domain && `;domain=${domain}`) +
    (secure ? ';secure' : '')
  );
}

/**
 * Domains to try for the cookie, widest first, so that `shop.example.com` and `checkout.example.com` share the visitor.
 * Browsers refuse public suffixes, so the first accepted domain is the site. The last, empty one is the host alone,
 * for `localhost` and IP addresses.
 */
export function cookieDomains(host: string): string[] {
  const labels = host.split('.');
  const domains = labels
    .map((_, index) => labels.slice(index).join('.'))
    .filter((domain) => domain.includes('.'));
  return [...domains.reverse(), ''];
}

function asVisitorId(text: string): string | null {
  return UUID.test(text) ? text : null;
}
