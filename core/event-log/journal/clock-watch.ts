import { performance } from 'node:perf_hooks';
import type { Logger } from '../../tier/log.ts';
import { AHEAD_MICROS } from '../../time/wall-clock.ts';
import type { ClockCorrection, StreamClock } from './stream-clock.ts';

const LOG_EVERY_MS = 60_000;
const ASK_EVERY_MS = 2_000;

export type ClockWatchOptions = {
  clock: StreamClock;
  nextSequence: () => bigint;
  resetAsked: () => Promise<boolean>;
  /** Writes the correction into the log; `done` tells whether it is written. */
  setBack: (correction: ClockCorrection, done: (isWritten: boolean) => void) => void;
  keepJump: () => void;
  log: Logger;
};

/**
 * Watches the clock of one stream. It logs jumps, and sets the time back where that is certain to be right or an
 * operator asks for it. A correction that the log rejects is written again.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isResetAsked = false;
  #owed: ClockCorrection | null = null;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** Checks the clock; call it four times a second, and before an event after a rest. */
  look(): void {
    const { clock, log, nextSequence, keepJump } = this.#options;
    if (this.#owed) this.#write(this.#owed);
    const found = clock.check(nextSequence());
    const seconds = found && Math.round(found.micros / 1e6);
    switch (found?.step) {
      case 'held':
        log.warn(
          { seconds },
          'the wall clock jumped ahead; event times do not follow unless it stays for a minute',
        );
        break;
      case 'withdrawn':
        log.info({ seconds }, 'the wall clock is right again; event times were not affected');
        break;
      case 'followed':
        log.warn({ seconds }, 'the wall clock has stayed ahead for a minute; event times follow it');
        this.#attempt(keepJump);
        break;
      default:
    }
    if (found?.isCertain || this.#isResetAsked) this.#setBack();
    else if (clock.ahead() > AHEAD_MICROS) this.#complain();
  }

  #setBack(): void {
    const { clock, log, nextSequence } = this.#options;
    this.#isResetAsked = false;
    if (clock.ahead() <= AHEAD_MICROS) return;
    const correction = clock.setBack(nextSequence());
    log.warn(
      { seconds: Math.round(correction.shift / 1e6) },
      'event times were ahead and are right again; workers correct the events that have wrong times',
    );
    this.#write(correction);
  }

  #write(correction: ClockCorrection): void {
    this.#owed = null;
    this.#options.setBack(correction, (isWritten) => {
      if (!isWritten) this.#owed = correction;
    });
  }

  #complain(): void {
    const { clock, log, resetAsked } = this.#options;
    const now = performance.now();
    if (now - this.#loggedAt >= LOG_EVERY_MS) {
      this.#loggedAt = now;
      log.error(
        { seconds: Math.round(clock.ahead() / 1e6) },
        'event times are ahead of the wall clock: when the machine\'s time is right, run "hoplog stream reset-clock"',
      );
    }
    if (now - this.#askedAt < ASK_EVERY_MS) return;
    this.#askedAt = now;
    resetAsked().then(
      (isAsked) => {
        this.#isResetAsked = isAsked;
      },
      () => undefined, // PostgreSQL is down: the next look queries again
    );
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.log.warn({ err: error }, "failed to save the clock's jump; continuing");
    }
  }
}
