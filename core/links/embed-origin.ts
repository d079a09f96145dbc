// Browsers run this file too.
/** Hosts that browsers accept in a Content-Security-Policy; they ignore a source with any other. */
const POLICY_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/**
 * Returns the API's origin for an embedded dashboard, as a Content-Security-Policy names it. Null for anything but a
 * bare origin of http(s), and for a host that no policy can name: one with an underscore, an IPv6 address. Page and
 * policy both use it, so they agree.
 *
 * Hazard: a host may contain `;`, `,` and quotes.
 *
 * @param text a trailing slash is allowed
 */
export function embedOrigin(text: string): string | null {
  const url = parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null;
  const rest = url.username + url.password + url.search + url.hash;
  return url.pathname === '/' && rest === '' && POLICY_HOST.test(url.hostname) ? url.origin : null;
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null; // `URL.parse` is too new for some browsers
  }
}
