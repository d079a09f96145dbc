import { fdatasync, fdatasyncSync } from 'node:fs';
import type { Logger } from '../../tier/log.ts';
import type { AppendOutcome } from '../port.ts';
import type { JournalMetrics } from './metrics.ts';
import { finishSegment, type SegmentFile } from './segment-file.ts';

export type Settled = (outcome: AppendOutcome) => void;

export type GroupSyncOptions = {
  /** Longest time from a write that nobody waits for to the start of its sync, milliseconds. */
  intervalMs: number;
  metrics: JournalMetrics;
  log: Logger;
  settle: (appends: Settled[], outcome: AppendOutcome) => void;
  /** A disk is quick when its last sync took less, milliseconds; {@link QUICK_MS} when left out. */
  quickMs?: number;
  /** A segment could not be synced: the kernel may have dropped its pages, so nothing more may go into it. */
  onFailure: (file: SegmentFile) => void;
};

/**
 * A disk that syncs faster than this is synced on the event loop: handing the sync to a thread and hearing of its end
 * takes as long again (`bench/journal.ts`). A slower one never holds the loop up more than once.
 */
const QUICK_MS = 1;

/**
 * Syncs what was written, one group at a time: all that is written while a sync runs goes into the next. A
 * group starts at once when appends wait for it, which it then settles in their order, else when the interval
 * is over.
 */
export class GroupSync {
  readonly #options: GroupSyncOptions;
  #dirty: SegmentFile | null = null;
  #finished: SegmentFile[] = [];
  #waiting: Settled[][] = [];
  #timer: NodeJS.Timeout | null = null;
  #running = false;
  /** How long the last sync took, milliseconds. */
  #lastMs = Number.POSITIVE_INFINITY;
  #idle: (() => void)[] = [];

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  /** Takes note of a write: it will be synced when the interval is over. */
  written(file: SegmentFile): void {
    this.#dirty = file;
    // A millisecond early, because timers are late rather than early.
    this.#timer ??= setTimeout(this.#start, Math.max(1, this.#options.intervalMs - 1)).unref();
  }

  /**
   * Takes note of a write whose appends settle when it is synced: in a later turn or, when `atOnce` allows it and the
   * disk is quick, before this returns.
   */
  writtenFor(file: SegmentFile, appends: Settled[], atOnce: boolean): void {
    this.#dirty = file;
    this.#waiting.push(appends);
    if (
      atOnce &&
      !this.#running &&
      this.#finished.length === 0 &&
      this.#lastMs < (this.#options.quickMs ?? QUICK_MS)
    )
      this.#syncNow();
    else this.#start();
  }

  /** Takes over a segment that gets no more frames: syncs it with the next group, then cuts and closes it. */
  finished(file: SegmentFile): void {
    this.#finished.push(file);
    if (this.#dirty === file) this.#dirty = null;
    this.#start();
  }

  /** Resolves when all that was written so far is synced. */
  async drain(): Promise<void> {
    for (;;) {
      this.#start();
      if (!this.#running) return;
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  readonly #start = (): void => {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#running || (!this.#dirty && this.#finished.length === 0 && this.#waiting.length === 0)) return;
    this.#running = true;
    const finished = this.#finished;
    const files = this.#dirty ? [...finished, this.#dirty] : finished;
    const waiting = this.#waiting;
    this.#dirty = null;
    this.#finished = [];
    this.#waiting = [];
    const began = performance.now();
    this.#syncAll(files, 0, true, (whole) => {
      this.#observe(began);
      for (const file of finished) this.#finish(file);
      this.#running = false;
      for (const appends of waiting) this.#options.settle(appends, whole ? 'written' : 'lost');
      for (const resolve of this.#idle.splice(0)) resolve();
      // A timer that is still armed has its own group to start; one that rang during this sync has not.
      if (!this.#timer || this.#finished.length > 0 || this.#waiting.length > 0) this.#start();
    });
  };

  #syncAll(files: SegmentFile[], index: number, whole: boolean, done: (whole: boolean) => void): void {
    const file = files[index];
    if (!file) {
      done(whole);
      return;
    }
    fdatasync(file.fd, (error) => {
      if (error) this.#fail(file, error);
      this.#syncAll(files, index + 1, whole && !error, done);
    });
  }

  /** Syncs the segment that was just written, and nothing else, while the event loop waits. */
  #syncNow(): void {
    const [file, waiting] = [this.#dirty, this.#waiting];
    if (!file) return;
    this.#dirty = null;
    this.#waiting = [];
    const began = performance.now();
    let outcome: AppendOutcome = 'written';
    try {
      fdatasyncSync(file.fd);
    } catch (error) {
      this.#fail(file, error);
      outcome = 'lost';
    }
    this.#observe(began);
    for (const appends of waiting) this.#options.settle(appends, outcome);
  }

  #observe(began: number): void {
    this.#lastMs = performance.now() - began;
    this.#options.metrics.syncSeconds.observe(this.#lastMs / 1000);
  }

  #fail(file: SegmentFile, error: unknown): void {
    this.#options.metrics.syncFailures.inc();
    this.#options.log.error({ err: error, segment: file.start.toString() }, 'journal could not be synced');
    this.#options.onFailure(file);
  }

  #finish(file: SegmentFile): void {
    try {
      finishSegment(file);
    } catch (error) {
      this.#options.log.warn({ err: error, segment: file.start.toString() }, 'could not cut a full segment');
    }
  }
}
