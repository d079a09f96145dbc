import { type Code, uuidOf } from './address.ts';
import { attempt } from './attempt.ts';
import type { Settings } from './script.ts';
import { ask } from './send.ts';

/** Name in the tab's storage of the code that was reported, followed by the key's public id. */
const REPORTED = 'hoplog_ref.';
/** Calls do not wait for the response to a visit longer than this. Milliseconds. */
const PATIENCE = 3_000;

/**
 * Reports once a session that a page was opened with a referrer's code: a click of the referrer's link. Calls wait for
 * the response, which has the visitor's id.
 */
export function createVisits(code: Code | null) {
  let open = 0;
  let waiting: (() => void)[] = [];
  const run = () => {
    const due = waiting;
    waiting = [];
    for (const one of due) one();
  };
  const close = () => {
    open = 0;
    run();
  };
  attempt(() => addEventListener('pagehide', run));

  return {
    /** Runs an action once no visit is open. */
    after(action: () => void): void {
      waiting.push(action);
      if (!open) run();
    },
    /**
     * @param isCounted a short link led here: the redirect has counted the click
     * @param take gets the id that the page is to store
     */
    report(site: Settings, visitorId: string | null, isCounted: boolean, take: (id: string) => void): void {
      if (!code) return;
      const name = REPORTED + site.key.slice(8, 16);
      const text = `${code.parameter}=${code.code}`;
      if (attempt(() => sessionStorage.getItem(name)) === text) return;
      const keep = () => attempt(() => sessionStorage.setItem(name, text));
      if (isCounted) {
        keep();
        return;
      }
      const { host } = location;
      const came = document.referrer;
      const message = {
        key: site.key,
        type: 'visit',
        parameter: code.parameter,
        code: code.code,
        utm: code.utm,
        visitor_id: visitorId,
        referrer: came.split('/')[2] === host ? '' : came,
      };
      open++;
      setTimeout(close, PATIENCE);
      const sent = attempt(() =>
        ask(site.endpoints, JSON.stringify(message))
          .then((answer) => {
            keep();
            const id = uuidOf(answer.visitor_id);
            if (id) take(id);
          })
          // Offline or blocked: the next page with the code tries again.
          .catch(() => null)
          .then(() => {
            if (open < 2) close();
            else open--;
          }),
      );
      if (!sent) close();
    },
  };
}
