/**
 * Characters that can't stand in a path of a `Location` header: browsers read `\\` as a slash, `?` and `#` end a path.
 * The server has read unescaped bytes as UTF-8.
 */
const UNSAFE = /[^!$%&'()*+,\-./0-9:;=@A-Z[\]_a-z~]/gu;
/** Escaped dots and slashes, which browsers and servers read as the plain ones. */
const HIDDEN = /%(2e|2f|5c)/gi;

/**
 * Returns whether a path behind a slug stays below the destination that it is appended to: no segment is a dot segment,
 * however its dots and slashes are encoded.
 *
 * @param path as sent, from its slash on
 */
export function isForwardable(path: string): boolean {
  return !path
    .replace(HIDDEN, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .split(/[/\\]/)
    .some((segment) => segment === '.' || segment === '..');
}

/**
 * Returns a URL with a path appended to its own, byte for byte: escapes stay as they are, also those of no character.
 * An address that is not `http` or `https` stays as it is: it opens an app.
 *
 * @param url without fragment
 * @param path that {@link isForwardable}
 */
export function withPath(url: string, path: string): string {
  if (!/^https?:/i.test(url)) return url;
  const mark = url.indexOf('?');
  const end = mark < 0 ? url.length : mark;
  const own = url.slice(0, end);
  const base = own.endsWith('/') ? own.slice(0, -1) : own;
  return base + path.toWellFormed().replaceAll(UNSAFE, encodeURIComponent) + url.slice(end);
}
