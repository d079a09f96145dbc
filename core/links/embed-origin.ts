/** What browsers take for a host in a Content-Security-Policy; a source with any other is ignored. */
const POLICY_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/**
 * The API's origin that an embedded dashboard is told of, as a Content-Security-Policy names it; null for anything that
 * is no bare origin of http(s), and for a host that no policy can name: one with an underscore, an IPv6 address. Page
 * and policy ask the same question, so that the page never connects where its policy forbids it.
 *
 * Nothing else may get through: a host may hold `;`, `,` and quotes too.
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
