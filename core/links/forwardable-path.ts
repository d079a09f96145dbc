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
