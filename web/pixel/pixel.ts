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
import { TEST, takeParameters, uuidOf, VISITOR } from './address.ts';
import { attempt, tell } from './attempt.ts';
import { cleanAddress } from './clean-address.ts';
import { type Call, type Identify, messageOf, type Order } from './message.ts';
import { readSettings, type Settings } from './script.ts';
import { type Answer, post, watchPolicy } from './send.ts';
import { referCheckouts } from './stripe.ts';
import { createVisitorIds } from './visitor-ids.ts';

type Hoplog = {
  identify(fields: Identify): void;
  order(fields: Order): void;
  /** With `data-consent="wait"`: `true` begins, `false` removes what is stored and ends. */
  consent(given: boolean): void;
  /** The newest visitor id; null: none. */
  visitor(): string | null;
  /** Takes a queued call: the stub may be an array. */
  push(call: Call): void;
  /** Joins a second script of the page, which has another key. */
  alsoFor(settings: Settings): void;
};
/** What a page may have put there before the pixel loaded. */
type Early = { q?: Call[] } | Call[] | Hoplog;

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

/** Calls that a second key of the page may still get. */
const MOST_CALLS = 100;

const queueOf = (early: Early | undefined): Call[] =>
  (Array.isArray(early) ? early : early && 'q' in early && early.q) || [];
/** Whether a variable of the page is the stub, and nobody else's. */
const isStub = (early: Early | undefined) =>
  attempt(() => 'q' in (early as object) && 'order' in (early as object)) === true;

const now = () => Math.floor(Date.now() / 1_000);
/** An id of an address in the tab's storage, and when the address was opened: seconds since the epoch. */
type Kept = { id: string | null; at: number };
const fromSession = (name: string): Kept => {
  const [id, at] = (attempt(() => sessionStorage.getItem(name)) || '').split('.');
  return { id: uuidOf(id), at: parseInt(at || '', 36) };
};
const toSession = (name: string, { id, at }: Kept) =>
  attempt(() =>
    id ? sessionStorage.setItem(name, `${id}.${at.toString(36)}`) : sessionStorage.removeItem(name),
  );
const NONE: Kept = { id: null, at: 0 };
/** Name in the tab's storage of the code whose visit was reported. */
const REPORTED = 'hoplog_ref';

function start(first: Settings): void {
  const privacyControl = navigator.globalPrivacyControl === true;
  const ids = createVisitorIds(window);
  const sites: Settings[] = [];
  const calls: Call[] = [];
  let consent: boolean | null = first.waitsForConsent ? null : true;

  const opened = now();
  const href = attempt(() => location.href) || '';
  const taken = takeParameters(href, first.parameters);
  const { code } = taken;
  /** The visit is a click already: the redirect of a short link led here, or another page of the session reported it. */
  let isCounted = !!taken.visitorId || attempt(() => sessionStorage.getItem(REPORTED)) === code;
  /** Visits without a response. Calls wait for them: they have the visitor's id. */
  let open = 0;
  let held: (() => void)[] = [];
  const release = () => {
    const due = held;
    held = [];
    for (const one of due) one();
  };
  let address = taken.visitorId;
  const test = taken.test || fromSession(TEST).id;
  if (taken.test) toSession(TEST, { id: test, at: opened });
  if (taken.href !== href && !first.keepsAddress) cleanAddress(taken.href);

  /** Stores the id of the address, once that is allowed. */
  const settle = () => {
    if (privacyControl) return ids.clear();
    let kept = fromSession(VISITOR);
    if (kept.id) isCounted = true;
    if (address && address !== kept.id) kept = { id: address, at: opened };
    toSession(VISITOR, consent === null ? kept : NONE);
    if (consent === null) return;
    if (kept.id) ids.add(kept.id, kept.at);
    address = null;
  };
  const deliver = (site: Settings, call: Call, done?: (answer: Answer) => void) => {
    try {
      const message = messageOf(call, {
        key: site.key,
        visitorIds: ids.all(),
        ages: ids.ages(now()),
        privacyControl,
        test,
      });
      if (message !== null) post(site.endpoints, message, test !== null || !!done, done);
    } catch (error) {
      tell(`a call failed: ${error}`);
    }
  };
  const send = (site: Settings, call: Call) => {
    if (open) held.push(() => deliver(site, call));
    else deliver(site, call);
  };
  /** Reports that the page was opened with a referrer's code, once a session. */
  const visit = (site: Settings) => {
    if (!code) return;
    const keep = () => attempt(() => sessionStorage.setItem(REPORTED, code));
    if (isCounted) {
      keep();
      return;
    }
    open++;
    deliver(site, ['visit', { code, referrer: document.referrer }], ({ ok, visitor_id }) => {
      if (ok) keep();
      if (consent && !privacyControl && uuidOf(visitor_id)) ids.add(visitor_id as string, now());
      refer();
      if (!--open) release();
    });
  };
  const take = (call: Call) => {
    if (consent === false) return;
    if (calls.length < MOST_CALLS) calls.push(call);
    if (consent) for (const site of sites) send(site, call);
  };
  const join = (site: Settings) => {
    if (sites.some(({ key }) => key === site.key)) return;
    sites.push(site);
    watchPolicy(site.endpoints);
    if (!consent) return;
    visit(site);
    for (const call of calls) send(site, call);
  };

  const hoplog: Hoplog = {
    identify: (fields) => take(['identify', fields]),
    order: (fields) => take(['order', fields]),
    consent(given) {
      const began = consent === null && given;
      consent = given === true;
      if (!consent) {
        calls.length = 0;
        address = null;
        toSession(VISITOR, NONE);
        return ids.clear();
      }
      settle();
      refer();
      if (!began) return;
      sites.forEach(visit);
      for (const call of calls) for (const site of sites) send(site, call);
    },
    visitor: () => (consent && !privacyControl && ids.all()[0]) || null,
    push: (call) => take([call[0], call[1]] as Call),
    alsoFor: join,
  };

  const refer = referCheckouts(hoplog.visitor);
  settle();
  attempt(() => addEventListener('pagehide', release));
  const queued = queueOf(window.hoplog);
  // `typeof` also finds what `window.tracker` does not show: a `const` of the page.
  const isFree = typeof tracker === 'undefined';
  const isOurs = !isFree && isStub(window.tracker);
  if (isOurs && window.tracker !== window.hoplog) queued.push(...queueOf(window.tracker));
  attempt(() => {
    if (isFree || isOurs) window.tracker = hoplog;
  });
  window.hoplog = hoplog;
  join(first);
  refer();
  if (test) take(['test', {}]);
  for (const call of queued) attempt(() => hoplog.push(call));
}

attempt(() => {
  const settings = readSettings();
  if (!settings) return;
  const running = window.hoplog;
  if (running && 'alsoFor' in running) running.alsoFor(settings);
  else start(settings);
});
