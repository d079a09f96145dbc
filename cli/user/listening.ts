import { HoplogError } from '../../sdk/typescript/src/errors.ts';
import { eventsOf } from '../../sdk/typescript/src/live.ts';
import { mayPass, pause, pauseOf } from '../../sdk/typescript/src/retry.ts';
import type { SignedRequest } from './forward.ts';

/** The first message of a session. */
export type Ready = { secret: string; events: string[] };
/** An event of a session, as a webhook would get it. */
export type Sent = SignedRequest & { id: string; type: string };

export type Listening = {
  /** Calls `GET /webhooks/listen`. @param after the position to resume from; undefined: a new session */
  open(after: string | undefined): Promise<Response>;
  onReady(ready: Ready): void;
  /** Forwards an event. The position moves past it when the promise is fulfilled. */
  onEvent(sent: Sent): Promise<void>;
  note(text: string): void;
  /** For tests. */
  pause?: (ms: number) => Promise<void>;
  now?: () => number;
};

/** Longer outages wait no longer between two calls. */
const LONGEST_OUTAGE = 6;
/** Time after which the API deletes the events of a listener that has left. Milliseconds. */
const SESSION_MS = 300_000;

/**
 * Listens until an error that repeats do not help, and reconnects after every other one.
 *
 * A proxy in front of the API may answer for it while it restarts, with a 404 or a 520. The API has deleted the session
 * when this lasts for five minutes; then, and before the first message, it is an error.
 *
 * @throws {HoplogError}
 */
export async function keepListening(listening: Listening): Promise<never> {
  const { open, onReady, onEvent, note, now = Date.now } = listening;
  const wait = listening.pause ?? pause;
  let after: string | undefined;
  let isStarted = false;
  let failures = 0;
  /** Since when a proxy answers, with each call. */
  let proxyAt: number | null = null;
  for (;;) {
    try {
      const response = await open(after);
      for await (const { id, event, data } of eventsOf(response)) {
        failures = 0;
        proxyAt = null;
        if (event === 'ready' && after === undefined) onReady(JSON.parse(data) as Ready);
        isStarted = true;
        // One after the other: the position is that of an event that was forwarded.
        if (event === 'event') await onEvent(JSON.parse(data) as Sent);
        after = id ?? after;
      }
    } catch (error) {
      if (after !== undefined && error instanceof HoplogError && error.code === 'not_found') {
        note(
          'the service has ended this session: events of the meantime are lost, and the secret is a new one',
        );
        after = undefined;
        continue;
      }
      proxyAt = mayPass(error) || !isOfProxy(error) ? null : (proxyAt ?? now());
      const isRestarting = proxyAt !== null && now() - proxyAt < SESSION_MS;
      if (!isStarted || !(mayPass(error) || isRestarting)) throw error;
      if (failures === 0) note(`${(error as Error).message}; waiting`);
      failures += 1;
    }
    await wait(pauseOf(Math.min(failures, LONGEST_OUTAGE), null));
  }
}

/** Whether a proxy answered in place of the API. */
const isOfProxy = (error: unknown) => error instanceof HoplogError && error.code === 'unexpected_response';
