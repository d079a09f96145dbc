import { fdatasync, fdatasyncSync } from 'node:fs';
import type { Logger } from '../../tier/log.ts';
import type { AppendOutcome } from '../port.ts';
import type { JournalMetrics } from './metrics.ts';
import { finishSegment, type SegmentFile } from './segment-file.ts';

export type Settled = (outcome: AppendOutcome) => void;

/** Appends whose frame is in a segment. */
type Waiting = { file: SegmentFile; appends: Settled[] };

export type GroupSyncOptions = {
  /** Longest time from a write without waiting appends to the start of its sync. Milliseconds. */
  intervalMs: number;
  metrics: JournalMetrics;
  log: Logger;
  settle: (appends: Settled[], outcome: AppendOutcome) => void;
  /** A disk is quick when its last sync took less. Milliseconds; {@link QUICK_MS} by default. */
  quickMs?: number;
  /** Called when a segment could not be synced. The kernel may have dropped its pages: it must not be written again. */
  onFailure: (file: SegmentFile) => void;
};

/**
 * A disk whose last sync took less is synced on the event loop, because handing the sync to a thread takes as long
 * (`bench/journal.ts`). A disk that turns slow delays the loop once.
 */
const QUICK_MS = 1;

/**
 * Longest time that heartbeats wait for a sync of their own. A power cut may lose heartbeats and nothing else: the sync
 * of an event covers everything written before it.
 */
const LAZY_MS = 60_000;

/**
 * Syncs writes in groups. What is written during a sync belongs to the next group. A group starts at once when
 * appends wait for it, else after the interval; it settles its appends in order.
 */
export class GroupSync {
  readonly #options: GroupSyncOptions;
  #dirty: SegmentFile | null = null;
  #finished: SegmentFile[] = [];
  #waiting: Waiting[] = [];
  /**
   * Segments whose sync failed. The kernel marks their pages as clean, so a later sync succeeds although they are lost.
   * Everything written there since is lost too.
   */
  readonly #failed = new WeakSet<SegmentFile>();
  #timer: NodeJS.Timeout | null = null;
  #lazyTimer: NodeJS.Timeout | null = null;
  #running = false;
  #lastMs = Number.POSITIVE_INFINITY;
  #idle: (() => void)[] = [];

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  written(file: SegmentFile): void {
    this.#dirty = file;
    // One millisecond early: timers are late rather than early.
    this.#timer ??= setTimeout(this.#start, Math.max(1, this.#options.intervalMs - 1)).unref();
  }

  /** Registers a write that may wait for the next event's sync, but not for long. */
  writtenLazily(file: SegmentFile): void {
    this.#dirty = file;
    if (this.#timer === null) this.#lazyTimer ??= setTimeout(this.#start, LAZY_MS).unref();
  }

  /**
   * Registers a write whose appends settle once it is synced. That is in a later turn or, with `atOnce` and a quick
   * disk, before this returns.
   */
  writtenFor(file: SegmentFile, appends: Settled[], atOnce: boolean): void {
    this.#dirty = file;
    this.#waiting.push({ file, appends });
    if (
      atOnce &&
      !this.#running &&
      this.#finished.length === 0 &&
      this.#lastMs < (this.#options.quickMs ?? QUICK_MS)
    )
      this.#syncDirty();
    else this.#start();
  }

  /** Syncs a segment on the event loop, before anything else is written. Appends settle with their own sync. */
  syncNow(file: SegmentFile): void {
    try {
      fdatasyncSync(file.fd);
    } catch (error) {
      this.#fail(file, error);
    }
  }

  /** Takes over a full segment: syncs it with the next group, then cuts and closes it. */
  finished(file: SegmentFile): void {
    this.#finished.push(file);
    if (this.#dirty === file) this.#dirty = null;
    this.#start();
  }

  async drain(): Promise<void> {
    for (;;) {
      this.#start();
      if (!this.#running) return;
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  readonly #start = (): void => {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#lazyTimer) clearTimeout(this.#lazyTimer);
    this.#timer = null;
    this.#lazyTimer = null;
    if (this.#running || (!this.#dirty && this.#finished.length === 0 && this.#waiting.length === 0)) return;
    this.#running = true;
    const finished = this.#finished;
    const files = this.#dirty ? [...finished, this.#dirty] : finished;
    const waiting = this.#waiting;
    this.#dirty = null;
    this.#finished = [];
    this.#waiting = [];
    const began = performance.now();
    this.#syncAll(files, 0, () => {
      this.#observe(began);
      for (const file of finished) this.#finish(file);
      this.#running = false;
      this.#settle(waiting);
      for (const resolve of this.#idle.splice(0)) resolve();
      // A timer that is still armed starts the next group later. One that fired during this sync started none.
      if ((!this.#timer && !this.#lazyTimer) || this.#finished.length > 0 || this.#waiting.length > 0)
        this.#start();
    });
  };

  #syncAll(files: SegmentFile[], index: number, done: () => void): void {
    const file = files[index];
    if (!file) {
      done();
      return;
    }
    fdatasync(file.fd, (error) => {
      if (error) this.#fail(file, error);
      this.#syncAll(files, index + 1, done);
    });
  }

  #syncDirty(): void {
    const [file, waiting] = [this.#dirty, this.#waiting];
    if (!file) return;
    this.#dirty = null;
    this.#waiting = [];
    const began = performance.now();
    this.syncNow(file);
    this.#observe(began);
    this.#settle(waiting);
  }

  #settle(waiting: readonly Waiting[]): void {
    for (const { file, appends } of waiting) {
      this.#options.settle(appends, this.#failed.has(file) ? 'lost' : 'written');
    }
  }

  #observe(began: number): void {
    this.#lastMs = performance.now() - began;
    this.#options.metrics.syncSeconds.observe(this.#lastMs / 1000);
  }

  #fail(file: SegmentFile, error: unknown): void {
    this.#failed.add(file);
    this.#options.metrics.syncFailures.inc();
    this.#options.log.error(
      { err: error, segment: file.start.toString() },
      'failed to sync the journal; writing to another segment',
    );
    this.#options.onFailure(file);
  }

  #finish(file: SegmentFile): void {
    try {
      finishSegment(file);
    } catch (error) {
      this.#options.log.warn(
        { err: error, segment: file.start.toString() },
        'failed to cut a full segment of the journal; continuing',
      );
    }
  }
}
