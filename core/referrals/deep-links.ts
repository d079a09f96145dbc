import { isForwardable } from '../links/forwardable-path.ts';

/** Parameters that a redirect adds, and takes from nobody. */
const OWN_PARAMETERS = ['ref', '_vid'];

/**
 * Returns what to append to a referral link so that it leads to a page: path and query. Null: the page is not below the
 * program's destination.
 *
 * @param destination of the program
 * @param page a URL of somebody
 */
export function pathBelow(destination: string, page: string): string | null {
  const [own, given] = [URL.parse(destination), URL.parse(page)];
  if (!own || !given || !/^https?:$/.test(own.protocol)) return null;
  if (given.protocol !== own.protocol || given.host !== own.host) return null;
  if (given.username !== '' || given.password !== '') return null;
  // The parser has resolved dot segments: a page that has some is refused, wherever they lead.
  const [asGiven = ''] = page.split(/[?#]/, 1);
  if (!staysBelow(asGiven)) return null;
  const base = own.pathname.replace(/\/$/, '');
  if (given.pathname !== own.pathname && !given.pathname.startsWith(`${base}/`)) return null;
  const path = given.pathname === own.pathname ? '' : given.pathname.slice(base.length);
  for (const name of OWN_PARAMETERS) if (given.searchParams.has(name)) given.searchParams.delete(name);
  return path + given.search;
}

/** Whether no segment is a dot segment, also for a server that decodes a path several times. */
function staysBelow(path: string): boolean {
  for (let text = path; ; ) {
    if (!isForwardable(text)) return false;
    const next = text.replaceAll(/%25/g, '%');
    if (next === text) return true;
    text = next;
  }
}
