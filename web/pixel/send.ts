import { attempt, tell } from './attempt.ts';
import { hold, MOST } from './later.ts';

/** How many messages were beacons. */
let beacons = 0;

/** Says which line of the page's policy lacks us: a browser drops what it forbids without a word to the script. */
export const watchPolicy = (endpoints: readonly string[]) =>
  addEventListener('securitypolicyviolation', ({ blockedURI }) => {
    if (endpoints.includes(blockedURI))
      tell(`Content-Security-Policy: add ${blockedURI.split('/', 3).join('/')} to connect-src`);
  });

/** The response to a call, empty when there is none or it was not awaited. `visitor_id`: of a visit, for the page to store. */
export type Answer = { ok?: boolean; visitor_id?: string | null };

/**
 * Posts a message, as text: JSON needs a preflight, which does not complete while a page closes. A beacon outlives the
 * page. The browser refuses one beyond 64 KiB under way, and a fetch with `keepalive` too; a plain fetch is left then.
 * Chromium also drops what is beyond 256 under way in a page: a beacon without a word, so a page sends few. Never rejects.
 *
 * @param endpoints the first that answers; of several the response must be seen, so no beacon
 * @param isSeen whether the response is to be seen, and a refusal said
 */
export const post = async (endpoints: string[], message: string, isSeen: boolean): Promise<Answer> => {
  const url = endpoints[0] as string;
  if (!endpoints[1] && !isSeen && beacons++ < MOST && attempt(() => navigator.sendBeacon(url, message)))
    return {};
  // Older WebViews throw where `keepalive` is asked for.
  const request = async (keepalive: boolean) => fetch(url, { method: 'POST', body: message, keepalive });
  hold(1);
  try {
    const response = await request(true).catch(() => request(false));
    const body = await response.json();
    // 404 and 405 are not from our server, which has the address.
    if ((response.status | 1) === 405) throw 0;
    if (body.error) tell(`refused: ${body.error.message}`);
    return body;
  } catch (_error) {
    // Offline, blocked, or not from our server. Another call may have found that out while this one was under way.
    if (endpoints[1] && endpoints[0] === url) endpoints.shift();
    return endpoints[0] === url ? {} : post(endpoints, message, isSeen);
  } finally {
    hold(-1);
  }
};
