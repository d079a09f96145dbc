/**
 * The tracking pixel: a script for the destination site.
 *
 *     <script async src="{short_url}/pixel.js?key=pk_live_..."></script>
 *
 * It stores the visitor ID that a redirect added to the page's URL, and provides `window.hoplog`. A page that calls it
 * before it has loaded adds this stub first; the calls queue in `q`:
 *
 *     <script>
 *       window.hoplog = window.hoplog || { q: [],
 *         identify(fields) { this.q.push(['identify', fields]) },
 *         order(fields) { this.q.push(['order', fields]) } };
 *     </script>
 */
import { codeIn, isUuid, TEST, takeParameters, VISITOR } from './address.ts';
import { attempt } from './attempt.ts';
import { cleanAddress } from './clean-address.ts';
import { flush, hold, later, leave, MOST } from './later.ts';
import { type Call, callOf, type Identify, messageOf, type Order } from './message.ts';
import { readSettings, type Script, type Settings } from './script.ts';
import { post, watchPolicy } from './send.ts';
import { referCheckouts } from './stripe.ts';
import { createVisitorIds } from './visitor-ids.ts';

/** A call that waits in a page's stub. */
type Queued = readonly [type: string, fields: unknown];

type Hoplog = {
  identify(fields: Identify): void;
  order(fields: Order): void;
  /** With `data-consent="wait"`: `true` starts the pixel; `false` removes the stored data and ends it. */
  consent(given: boolean): void;
  /** Returns the newest visitor id; null: none. Also passes it to `told`, because a queued call returns nothing. */
  visitor(told?: (id: string | null) => void): string | null;
  /** Takes a queued call: the stub may be an array. */
  push(call: Queued): unknown;
  /** Joins a second script of the page, which has another key. */
  alsoFor(settings: Settings | undefined): void;
};
/** The page's own object from before the pixel loaded. */
type Stub = { q?: Queued[] };
type Early = Stub | Queued[] | Hoplog;

declare global {
  interface Window {
    hoplog?: Early;
    tracker?: Early;
  }
  interface Navigator {
    readonly globalPrivacyControl?: boolean;
  }
  const tracker: unknown;
}

const queueOf = (early: Early | undefined): Queued[] =>
  (early && attempt(() => [...(((early as Stub).q || early) as Queued[])])) || [];
const now = () => (Date.now() / 1_000) >>> 0;
/** The tab's storage. */
const inTab = (): Record<string, string> => attempt(() => sessionStorage) || {};
/** Name of its entry for the code whose visit was reported. */
const REPORTED = 'hoplog_ref';

/**
 * Starts the pixel. Steps that must precede other scripts run first: the page's address, and `window.hoplog`. The rest
 * follows in separate tasks.
 *
 * @param element the script element that runs, if known
 */
const start = (element: Script | null): void => {
  const isPrivate = navigator.globalPrivacyControl as boolean;
  const ids = createVisitorIds(window, later);
  const sites: Settings[] = [];
  const calls: Call[] = [];
  /** null: the page waits for consent, or the settings are not read yet. */
  let consent: boolean | null = null;
  let settings: Settings | undefined;
  let code: string | undefined;
  const { href } = location;
  const opened = now().toString(36);
  let { href: clean, pieces, [VISITOR]: address, [TEST]: test } = takeParameters(href);
  /** The visit is already a click: a short link's redirect led here, or another page of the session reported it. */
  let isCounted: unknown = address;

  /** Reads the element, once. */
  const configure = () => {
    if (settings) return;
    settings = readSettings(element);
    if (!settings) return;
    code = codeIn(pieces, `${settings.parameters}`.split(/[ ,]+/));
    if (settings.consent !== 'wait') consent = true;
    later(refer);
    join(settings);
  };
  /**
   * Stores the id of the address once that is allowed. Before consent, it goes into the tab's storage with its time.
   */
  const settle = () => {
    if (isPrivate) return ids.clear();
    const kept = inTab()[VISITOR] || '';
    const newest = address && !kept.includes(address) ? `${address}.${opened}` : kept;
    if (kept) isCounted = true;
    if (consent) {
      const [id, at] = newest.split('.') as [string, string];
      if (kept) delete inTab()[VISITOR];
      if (isUuid(id)) ids.add(id, parseInt(at, 36));
      address = undefined;
    } else if (newest) inTab()[VISITOR] = newest;
  };
  const deliver = (site: Settings, call: Call, isSeen = !!test) =>
    post(site.endpoints, messageOf(call, site.key, isPrivate ? {} : ids.ages(now()), test), isSeen);
  const send = (site: Settings, call: Call) => later(() => deliver(site, call));
  /** Reports that the page was opened with a referrer's code, once a session. */
  const visit = async (site: Settings) => {
    if (!code) return;
    const keep = () =>
      attempt(() => {
        inTab()[REPORTED] = code as string;
      });
    if (isCounted || inTab()[REPORTED] === code) return keep();
    hold(MOST);
    const { ok, visitor_id } = await deliver(
      site,
      { type: 'visit', code, referrer: document.referrer },
      true,
    );
    if (consent && ok) keep();
    if (consent && !isPrivate && isUuid(visitor_id)) ids.add(visitor_id, now());
    refer();
    hold(-MOST);
  };
  const take = (type: string, fields: unknown) => {
    // With Global Privacy Control an order has no email and user: revenue stays correct, and no person is tracked.
    if (consent === false || (isPrivate && type === 'identify')) return;
    const call = callOf(type, fields, isPrivate);
    // Keeps all calls before consent, and the first hundred for a second key of the page.
    if (!consent || !calls[99]) calls.push(call);
    if (consent) for (const site of sites) send(site, call);
  };
  /** Sends the calls so far to a site that may receive them now. */
  const begin = (site: Settings) => {
    later(() => visit(site));
    for (const call of calls) send(site, call);
  };
  const join = (site: Settings) => {
    if (sites.some(({ key }) => key === site.key)) return;
    sites.push(site);
    watchPolicy(site.endpoints);
    if (consent) begin(site);
  };
  const hoplog: Hoplog = {
    identify: (fields) => take('identify', fields),
    order: (fields) => take('order', fields),
    consent(given) {
      attempt(configure);
      const begins = consent === null;
      // The calls so far were allowed.
      if (!given) flush();
      consent = given === true;
      if (consent) {
        later(settle);
        later(refer);
        if (begins) sites.forEach(begin);
        return;
      }
      calls.length = 0;
      address = undefined;
      delete inTab()[VISITOR];
      delete inTab()[REPORTED];
      ids.clear();
    },
    visitor(told) {
      attempt(configure);
      attempt(settle);
      const id = (consent && !isPrivate && Object.keys(ids.ages(0))[0]) || null;
      if (told) told(id);
      return id;
    },
    // The server reports an unknown name.
    push: (call) =>
      attempt(() => (hoplog[call[0] as 'order'] || ((fields) => take(call[0], fields)))(call[1] as Order)),
    alsoFor: (site) => later(() => join(site as Settings)),
  };
  const refer = () => referCheckouts(hoplog.visitor());

  if (!element) configure();
  // Reads only this attribute: reading the other settings takes a millisecond on a slow phone.
  if (clean !== href && (element ? element.dataset : settings || {}).keepAddress == null) cleanAddress(clean);
  // A phone may end a hidden page without another event.
  addEventListener('visibilitychange', flush);
  addEventListener('pagehide', leave);
  const queued = queueOf(window.hoplog);
  // Avoids an exception: the first one takes milliseconds on a slow phone.
  const other = window.tracker as Stub | undefined;
  const isOurs = other && attempt(() => 'q' in other && 'order' in other);
  if (isOurs && other !== window.hoplog) queued.push(...queueOf(other));
  // `typeof` also finds a variable that `window.tracker` does not have: a `const` of the page.
  if (isOurs || typeof tracker === 'undefined')
    attempt(() => {
      window.tracker = hoplog;
    });
  window.hoplog = hoplog;
  queued.forEach(hoplog.push);
  later(() => {
    test = test || inTab()[TEST];
    if (!test) return;
    take('test', 0);
    inTab()[TEST] = test;
  });
  later(configure);
  later(settle);
  later(() => {
    addEventListener('load', refer, true);
    addEventListener('mousedown', refer, true);
    addEventListener('click', refer, true);
  });
};

attempt(() => {
  const { alsoFor } = (window.hoplog || {}) as Partial<Hoplog>;
  const element = document.currentScript as Script | null;
  if (alsoFor) alsoFor(readSettings(element));
  else start(element);
});
