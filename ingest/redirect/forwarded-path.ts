/** Characters that the URL standard percent-encodes in a path, and those that some clients mishandle. */
const UNSAFE = /[^!$%&()*+,\-./0-9:;=@A-Z_a-z~]/gu;

/**
 * Returns whether a path behind a slug stays below the destination that it is appended to: it is well-formed, and no
 * segment is a dot segment, however its dots and slashes are encoded.
 *
 * @param path as sent, from its slash on
 */
export function isForwardable(path: string): boolean {
  try {
    return !decodeURIComponent(path)
      .split(/[/\\]/)
      .some((segment) => segment === '.' || segment === '..');
  } catch {
    return false;
  }
}

/**
 * Returns a URL with a path appended to its own. An address that is not `http` or `https` stays as it is: it opens an
 * app.
 *
 * @param url without fragment
 * @param path that {@link isForwardable}
 */
export function withPath(url: string, path: string): string {
  if (!/^https?:/i.test(url)) return url;
  const mark = url.indexOf('?');
  const end = mark < 0 ? url.length : mark;
  const own = url.slice(0, end);
  return (
    (own.endsWith('/') ? own.slice(0, -1) : own) +
    path.replaceAll(UNSAFE, encodeURIComponent) +
    url.slice(end)
  );
}
