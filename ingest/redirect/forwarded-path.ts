/**
 * Characters that can't stand in a path of a `Location` header: browsers read `\\` as a slash, `?` and `#` end a path.
 * The server has read unescaped bytes as UTF-8.
 */
const UNSAFE = /[^!$%&'()*+,\-./0-9:;=@A-Z[\]_a-z~]/gu;
/**
 * Returns a URL with a path appended to its own, byte for byte: escapes stay as they are, also those of no character.
 * An address that is not `http` or `https` stays as it is: it opens an app.
 *
 * @param url without fragment
 * @param path that `isForwardable`
 */
export function withPath(url: string, path: string): string {
  if (!/^https?:/i.test(url)) return url;
  const mark = url.indexOf('?');
  const end = mark < 0 ? url.length : mark;
  const own = url.slice(0, end);
  const base = own.endsWith('/') ? own.slice(0, -1) : own;
  return base + path.toWellFormed().replaceAll(UNSAFE, encodeURIComponent) + url.slice(end);
}
