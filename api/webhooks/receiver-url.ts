import { setTimeout as delay } from 'node:timers/promises';
import { badRequest } from '../../core/errors.ts';
import { requireWebUrl } from '../../core/links/web-urls.ts';
import { allowedAddresses, RefusedAddress, type ResolveHost } from '../../core/webhooks/resolve-host.ts';

/** A name server that does not answer must not hold up the request: the address is checked again at each delivery. */
const LOOK_MS = 2_000;

/** Most characters of a webhook's `url`. */
export const RECEIVER_URL_LIMIT = 2_048;

/** Where a webhook wants its deliveries. @throws {AppError} `bad_request` when it is no http(s) URL or has credentials */
export function parseReceiverUrl(text: string): URL {
  requireWebUrl('url', text, RECEIVER_URL_LIMIT);
  return new URL(text);
}

/** Looks where a webhook's deliveries would go. @throws {AppError} `bad_request` when that is not globally reachable */
export async function requireReachable(
  { hostname }: URL,
  rules: { resolve: ResolveHost; allowPrivate: boolean },
): Promise<void> {
  const looked = new AbortController();
  try {
    await Promise.race([
      allowedAddresses(hostname, rules),
      delay(LOOK_MS, undefined, { signal: looked.signal }),
    ]);
  } catch (error) {
    if (error instanceof RefusedAddress)
      throw badRequest('url', `must be globally reachable: ${error.message}`);
    // It does not resolve yet.
  } finally {
    looked.abort();
  }
}
