import { attempt, tell } from './attempt.ts';
import { hold, MOST } from './later.ts';

/** How many messages were beacons. */
let beacons = 0;

/**
 * Logs which directive of the page's policy must name us: the browser blocks the request without an error in the
 * script.
 */
export const watchPolicy = (endpoints: readonly string[]) =>
  addEventListener('securitypolicyviolation', ({ blockedURI }) => {
    if (endpoints.includes(blockedURI))
      tell(`Content-Security-Policy: add ${blockedURI.split('/', 3).join('/')} to connect-src`);
  });

/**
 * The response to a call; empty when there is none or the call did not wait for it. `visitor_id`: for the page to
 * store, in the response to a visit.
 */
export type Answer = { ok?: boolean; visitor_id?: string | null };

/**
 * Posts a message as text: JSON needs a preflight, which does not complete while a page closes. A beacon outlives the
 * page. Browsers refuse a beacon or a fetch with `keepalive` when more than 64 KiB are in flight; then a plain fetch
 * remains. Chromium also silently drops a beacon when a page has more than 256 requests in flight, so a page sends few.
 * Never rejects.
 *
 * @param endpoints tried in order; with several, the response must be read, so a beacon is not used
 * @param isSeen whether the response is needed, and a refusal is logged
 */
export const post = async (endpoints: string[], message: string, isSeen: boolean): Promise<Answer> => {
  const url = endpoints[0] as string;
  if (!endpoints[1] && !isSeen && beacons++ < MOST && attempt(() => navigator.sendBeacon(url, message)))
    return {};
  // Older WebViews throw when a request sets `keepalive`.
  const request = async (keepalive: boolean) => fetch(url, { method: 'POST', body: message, keepalive });
  hold(1);
  try {
    const response = await request(true).catch(() => request(false));
    const body = await response.json();
    // 404 and 405 come from another server, because ours has the address.
    if ((response.status | 1) === 405) throw 0;
    if (body.error) tell(`refused: ${body.error.message}`);
    return body;
  } catch (_error) {
    // The page is offline, the request was blocked, or another server responded. A concurrent call may have removed the
    // endpoint already.
    if (endpoints[1] && endpoints[0] === url) endpoints.shift();
    return endpoints[0] === url ? {} : post(endpoints, message, isSeen);
  } finally {
    hold(-1);
  }
};
