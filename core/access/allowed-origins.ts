import { AppError, badRequest } from '../errors.ts';

/** Origins that a workspace may allow. */
export const MOST_ORIGINS = 50;
/** Characters of an origin as it is sent. */
export const ORIGIN_LIMIT = 300;

const WITH_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/\\?#]/i;

/**
 * Returns an origin as browsers send it in `Origin`: scheme, host, and the port unless it is the scheme's own. Apps in
 * a web view have schemes of their own, such as `capacitor://localhost`.
 *
 * @param path name of the field
 * @throws {AppError} `bad_request` for anything but an origin
 */
export function readOrigin(path: string, text: string): string {
  const url = WITH_HOST.test(text.trim()) ? URL.parse(text.trim()) : null;
  const isOrigin =
    url !== null &&
    /^\/?$/.test(url.pathname) &&
    `${url.search}${url.hash}${url.username}${url.password}` === '' &&
    !url.host.includes('*');
  if (!isOrigin) {
    throw badRequest(path, 'must be an origin such as https://shop.example, without path and wildcard');
  }
  return `${url.protocol}//${url.host}`.toLowerCase();
}

/**
 * Returns whether a page may use the publishable keys of a workspace.
 *
 * @param origin of the page
 * @param allowed origins of the workspace; empty: any
 * @param own origins of the deployment, whose pages call too
 */
export function isAllowedOrigin(origin: string, allowed: readonly string[], own: readonly string[]): boolean {
  return allowed.length === 0 || allowed.includes(origin) || own.includes(origin);
}

/**
 * Requires that a call with a publishable key comes from an allowed origin. Servers and apps send no origin: they may
 * call.
 *
 * @param origin the request's header `Origin`; empty: none
 * @param allowed origins of the workspace; empty: any
 * @param own origins of the deployment, whose pages call too
 * @throws {AppError} `forbidden`
 */
export function requireAllowedOrigin(
  origin: string,
  allowed: readonly string[],
  own: readonly string[],
): void {
  if (origin === '' || isAllowedOrigin(origin, allowed, own)) return;
  throw new AppError(
    'forbidden',
    `calls from ${origin.slice(0, ORIGIN_LIMIT)} are refused: it is not in \`allowed_origins\` of the workspace`,
  );
}
