/**
 * The tracking pixel: a script for the destination site.
 *
 *     <script async src="{short_url}/pixel.js" data-key="pk_live_..."></script>
 *
 * It keeps the visitor's id that a redirect added to the page's address, and offers
 * `tracker.identify({ email, external_user_id })` and `tracker.order({ order_id, amount, currency, email })`.
 * Because it loads asynchronously, a page that calls it early puts this stub before it; the calls are kept in
 * `q` and sent when the pixel has loaded:
 *
 *     <script>
 *       window.tracker = window.tracker || { q: [],
 *         identify(fields) { this.q.push(['identify', fields]) },
 *         order(fields) { this.q.push(['order', fields]) } };
 *     </script>
 */
import { type Call, type Identify, messageOf, type Order } from './message.ts';
import { cookieDomains, cookieText, hasVisitorId, takeVisitorId, visitorIdIn } from './visitor-id.ts';

type Tracker = { identify(fields: Identify): void; order(fields: Order): void; q?: Call[] };

declare global {
  interface Window {
    tracker?: Tracker;
  }
  interface Navigator {
    readonly globalPrivacyControl?: boolean;
  }
}

function start(script: HTMLScriptElement): void {
  const key = script.dataset.key ?? '';
  const collect = new URL('/collect', script.src).href;
  const privacyControl = navigator.globalPrivacyControl === true;

  const { href, visitorId } = takeVisitorId(location.href);
  if (href !== location.href) history.replaceState(history.state, '', href);
  const kept = hasVisitorId(document.cookie);
  if (privacyControl && kept) writeCookie(null);
  if (!privacyControl && !kept && visitorId !== null) writeCookie(visitorId);

  const send = (call: Call) => {
    // Where no cookie sticks (blocked, or the short links' own HttpOnly one on the same host), this page at
    // least still knows who came.
    const message = messageOf(call, key, visitorIdIn(document.cookie) ?? visitorId, privacyControl);
    if (message !== null) post(collect, message);
  };
  const queued = window.tracker?.q ?? [];
  window.tracker = {
    identify: (fields) => send(['identify', fields]),
    order: (fields) => send(['order', fields]),
  };
  queued.forEach(send);
}

/** Sets the cookie on the widest domain that the browser allows; null removes it from all of them. */
function writeCookie(visitorId: string | null): void {
  for (const domain of cookieDomains(location.hostname)) {
    document.cookie = cookieText(visitorId, domain, location.protocol === 'https:');
    if (visitorId !== null && visitorIdIn(document.cookie) === visitorId) return;
  }
}

/** Text, not JSON, because a beacon of another type needs a preflight, which a closing page doesn't wait for. */
function post(url: string, message: string): void {
  if (navigator.sendBeacon?.(url, message)) return;
  fetch(url, { method: 'POST', body: message, keepalive: true, mode: 'no-cors' }).catch(() => {
    // The page is offline or blocks trackers; the site's own work must go on.
  });
}

const script =
  document.currentScript ??
  document.querySelector('script[data-key][src$="/pixel.js"],script[data-key][src$="/p.js"]');
if (script instanceof HTMLScriptElement) start(script);
