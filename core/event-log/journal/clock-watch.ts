import { performance } from 'node:perf_hooks';
import type { Logger } from '../../tier/log.ts';
import { AHEAD_MICROS } from '../../time/wall-clock.ts';
import type { ClockCorrection, StreamClock } from './stream-clock.ts';

const LOG_EVERY_MS = 60_000;
const ASK_EVERY_MS = 2_000;

export type ClockWatchOptions = {
  clock: StreamClock;
  /** The correction that an earlier process did not get into the log. */
  owed: ClockCorrection | null;
  nextSequence: () => bigint;
  resetAsked: () => Promise<boolean>;
  /** Writes the pending events. Later events get the sequences of a rejected batch. */
  flush: () => void;
  /** Stores the correction, so that it is owed after a restart too. @throws when the disk rejects it */
  keepOwed: (correction: ClockCorrection) => void;
  /** Adds the correction to the log's next batch; `done` tells whether it is written and synced. */
  write: (correction: ClockCorrection, done: (isWritten: boolean) => void) => void;
  /** Stores the state of the clock, without a correction that is owed. @throws when the disk rejects it */
  keep: () => void;
  log: Logger;
};

/**
 * Watches the clock of one stream. It logs jumps, and sets the time back where that is certain to be right or an
 * operator asks for it.
 *
 *     ahead ── stored beside the log ──▶ owed ── written into the log, synced ──▶ right
 *
 * The stream's time is set back once the correction is stored, so a restart still owes the correction. A correction
 * that the log rejects is written again with the next event. Until then, the time is not set back a second time.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isResetAsked = false;
  #owed: ClockCorrection | null;
  #isWriting = false;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#owed = options.owed;
  }

  /** The correction that the log does not have yet. */
  get owed(): ClockCorrection | null {
    return this.#owed;
  }

  /** Whether the log has to get a correction before its next event. */
  get isDue(): boolean {
    return this.#owed !== null && !this.#isWriting;
  }

  /** Checks the clock; call it four times a second, and before an event after a rest. */
  look(): void {
    const { clock, log, nextSequence, keep } = this.#options;
    const found = clock.check(nextSequence());
    const seconds = found && Math.round(found.micros / 1e6);
    switch (found?.step) {
      case 'held':
        log.warn(
          { seconds },
          'the wall clock jumped ahead; event times follow only if it stays ahead for a minute',
        );
        break;
      case 'withdrawn':
        log.info({ seconds }, 'the wall clock is right again; event times were not affected');
        break;
      case 'followed':
        log.warn({ seconds }, 'the wall clock has stayed ahead for a minute; event times follow it');
        this.#attempt(keep);
        break;
      default:
    }
    if (found?.isCertain || this.#isResetAsked) this.#setBack();
    else if (clock.ahead() > AHEAD_MICROS) this.#complain();
  }

  #setBack(): void {
    const { clock, log, nextSequence, flush, keepOwed } = this.#options;
    if (this.#owed) return;
    if (clock.ahead() <= AHEAD_MICROS) {
      this.#isResetAsked = false;
      return;
    }
    flush();
    const correction = clock.correction(nextSequence());
    try {
      keepOwed(correction);
    } catch (error) {
      this.#refused(error);
      return;
    }
    this.#isResetAsked = false;
    clock.setBack(correction);
    this.#owed = correction;
    log.warn(
      { seconds: Math.round(correction.shift / 1e6) },
      'event times were ahead and are right again; workers correct the events that have wrong times',
    );
  }

  /** Writes the correction that is owed. */
  writeOwed(): void {
    const { write, keep } = this.#options;
    if (this.#owed === null || this.#isWriting) return;
    this.#isWriting = true;
    write(this.#owed, (isWritten) => {
      this.#isWriting = false;
      if (!isWritten) return;
      this.#owed = null;
      this.#attempt(keep);
    });
  }

  #refused(error: unknown): void {
    const now = performance.now();
    if (now - this.#refusedAt < LOG_EVERY_MS) return;
    this.#refusedAt = now;
    this.#options.log.error(
      { err: error },
      'event times are ahead of the wall clock, and the disk rejects their correction; will retry',
    );
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
      this.#options.log.warn({ err: error }, 'failed to save the state of the clock; continuing');
    }
  }
}
