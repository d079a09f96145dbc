import type { Logger } from '../../tier/log.ts';
import type { Loss } from '../port.ts';
import type { LossCause } from './metrics.ts';

/** Names of the lasting causes, for log messages and readiness. */
const REASONS = {
  budget: 'journal budget used up',
  disk_full: 'disk full',
  disk_error: 'disk rejects writes',
} as const satisfies Partial<Record<LossCause, string>>;

type LastingCause = keyof typeof REASONS;

const LOG_EVERY_MS = 60_000;
/** Heartbeats alone end a loss only after this time without a refusal: one may fit where an event does not. */
const CALM_MS = 10_000;

/** Follows a loss of events from its first to its last, and logs it once a minute, not for each event. */
export class LossReport {
  readonly #log: Logger;
  readonly #now: () => number;
  #cause: LastingCause | null = null;
  #since = 0;
  #events = 0;
  #loggedAt = 0;
  #refusedAt = 0;

  /** @param now milliseconds since the Unix epoch */
  constructor(log: Logger, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  /** Notes that a write was refused; called at least at each heartbeat while it lasts. @returns the cause */
  begin(cause: LastingCause, error?: unknown): LastingCause {
    const now = this.#now();
    this.#refusedAt = now;
    if (this.#cause === null) {
      this.#since = now;
      this.#events = 0;
    }
    if (this.#cause !== cause || now - this.#loggedAt >= LOG_EVERY_MS) {
      this.#loggedAt = now;
      this.#log.error(
        { cause, err: error, events: this.#events, since: new Date(this.#since).toISOString() },
        `the journal is losing events: ${REASONS[cause]}`,
      );
    }
    this.#cause = cause;
    return cause;
  }

  count(events: number): void {
    this.#events += events;
  }

  /** Notes a write. @param hasEvents whether it had more than heartbeats */
  end(hasEvents: boolean): void {
    if (this.#cause === null || (!hasEvents && this.#now() - this.#refusedAt < CALM_MS)) return;
    this.#log.warn({ cause: this.#cause, events: this.#events }, 'the journal accepts events again');
    this.#cause = null;
  }

  current(): Loss | null {
    if (this.#cause === null) return null;
    return { reason: REASONS[this.#cause], since: this.#since, events: this.#events };
  }
}
