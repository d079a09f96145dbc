import { setTimeout as delay } from 'node:timers/promises';
import { badRequest } from '../../core/errors.ts';
import { allowedAddresses, RefusedAddress, type ResolveHost } from '../../core/webhooks/resolve-host.ts';

/** A name server that does not answer must not hold up the request: the address is checked again at each delivery. */
const LOOK_MS = 2_000;

/**
 * Checks where a webhook wants its deliveries.
 *
 * @throws {AppError} `bad_request` when it is no http(s) URL, has credentials, or leads to an address that is not
 *   globally reachable
 */
export async function requireReceiverUrl(
  text: string,
  rules: { resolve: ResolveHost; allowPrivate: boolean },
): Promise<void> {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw badRequest('url', 'must be an http:// or https:// address');
  }
  if (url.username !== '' || url.password !== '') throw badRequest('url', 'must not have credentials');
  const looked = new AbortController();
  try {
    await Promise.race([
      allowedAddresses(url.hostname, rules),
      delay(LOOK_MS, undefined, { signal: looked.signal }),
    ]);
  } catch (error) {
    if (error instanceof RefusedAddress) throw badRequest('url', error.message);
    // It does not resolve yet.
  } finally {
    looked.abort();
  }
}
