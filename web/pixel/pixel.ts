/**
 * The tracking pixel: a script for the destination site.
 *
 *     <script async src="{short_url}/pixel.js" data-key="pk_live_..."></script>
 *
 * It stores the visitor ID that a redirect added to the page's URL, and provides
 * `tracker.identify({ email, external_user_id })` and `tracker.order({ order_id, amount, currency, email })`.
 * It loads asynchronously. A page that calls it earlier adds this stub first; the calls queue in `q` and are sent after
 * the pixel has loaded:
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
    // Without a cookie (blocked, or an HttpOnly one of the short links on this host), at least this page knows the visitor.
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

/** Sets the cookie on the widest domain that the browser accepts; null removes it from all domains. */
function writeCookie(visitorId: string | null): void {
  for (const domain of cookieDomains(location.hostname)) {
    document.cookie = cookieText(visitorId, domain, location.protocol === 'https:');
    if (visitorId !== null && visitorIdIn(document.cookie) === visitorId) return;
  }
}

/** Sent as text: a JSON beacon needs a preflight, which does not complete while a page closes. */
function post(url: string, message: string): void {
  if (navigator.sendBeacon?.(url, message)) return;
  fetch(url, { method: 'POST', body: message, keepalive: true, mode: 'no-cors' }).catch(() => {
    // Offline or blocked: must not break the site's own scripts.
  });
}

const script =
  document.currentScript ??
  document.querySelector('script[data-key][src$="/pixel.js"],script[data-key][src$="/p.js"]');
if (script instanceof HTMLScriptElement) start(script);
