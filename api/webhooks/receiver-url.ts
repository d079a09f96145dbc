import { setTimeout as delay } from 'node:timers/promises';
import { badRequest } from '../../core/errors.ts';
import { requireWebUrl } from '../../core/links/web-urls.ts';
import { allowedAddresses, RefusedAddress, type ResolveHost } from '../../core/webhooks/resolve-host.ts';

/** Maximum wait for DNS. The address is checked again at each delivery. Milliseconds. */
const LOOK_MS = 2_000;

/** Maximum characters of a webhook's `url`. */
export const RECEIVER_URL_LIMIT = 2_048;

/**
 * Validates a webhook's URL.
 *
 * @param path name of the field
 * @throws {AppError} `bad_request` when it is not http(s), or has credentials or port 0
 */
export function parseReceiverUrl(text: string, path = 'url'): URL {
  // The host may be a service's name in a network of containers, if the operator allows private addresses.
  requireWebUrl(path, text, RECEIVER_URL_LIMIT, true);
  const url = new URL(text);
  // No server listens on port 0, and Node's client would use the scheme's port instead.
  if (url.port === '0') throw badRequest(path, 'must have a port from 1 to 65535');
  return url;
}

/** Resolves a webhook's host. @throws {AppError} `bad_request` when an address is not globally reachable */
export async function requireReachable(
  { hostname }: URL,
  rules: { resolve: ResolveHost; allowPrivate: boolean },
  path = 'url',
): Promise<void> {
  const looked = new AbortController();
  try {
    await Promise.race([
      allowedAddresses(hostname, rules),
      delay(LOOK_MS, undefined, { signal: looked.signal }),
    ]);
  } catch (error) {
    if (error instanceof RefusedAddress)
      throw badRequest(path, `must be globally reachable: ${error.message}`);
    // A host that does not resolve yet is allowed.
  } finally {
    looked.abort();
  }
}
