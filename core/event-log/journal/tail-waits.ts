import { type FSWatcher, watch } from 'node:fs';
import { LIST_MS, type TailFiles } from './tail-files.ts';

const POLL_MS = 20;
/** Poll interval of a consumer that expects nothing soon, where the system does not notify it of writes. */
const QUIET_POLL_MS = 100;
/**
 * The same where the system notifies it of writes, in case a notification is lost. Streams are listed again at this
 * interval.
 */
const WATCHED_POLL_MS = 5_000;

/** Where a consumer waits, for how long at most, and whether it expects nothing soon. */
export type TailWait = {
  partition: string;
  offset: bigint;
  withinMs: number;
  isQuiet: boolean;
  signal: AbortSignal;
};

type Waiter = { partition: string; offset: bigint; until: number; pollMs: number; go(): void };

/**
 * The waits of consumers at the ends of streams. A reader spends nearly all of its time here, so one timer serves all
 * of them: each check reads four bytes of a file that stays open. A wait of a consumer that expects nothing soon ends
 * when the system notifies it of a write.
 */
export class TailWaits {
  readonly #tails: TailFiles;
  readonly #waiters = new Set<Waiter>();
  #looking: NodeJS.Timeout | null = null;
  #lookAt = 0;

  constructor(tails: TailFiles) {
    this.#tails = tails;
  }

  /** Resolves when the offset may have something, when the stream is to be listed again, or after `withinMs`. */
  untilMore({ partition, offset, withinMs, isQuiet, signal }: TailWait): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        watcher?.close();
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', go);
        resolve();
      };
      const watcher = isQuiet ? this.#watchTail(partition, go) : null;
      // True after a write between the read and the watch, and at damage. The wait still ends a moment later, because a
      // read may return nothing.
      const isDue = !isQuiet || this.#isWritten(partition, offset);
      const pollMs = isDue ? POLL_MS : watcher === null ? QUIET_POLL_MS : WATCHED_POLL_MS;
      const until = performance.now() + Math.min(withinMs, Math.max(LIST_MS, pollMs));
      const waiter: Waiter = { partition, offset, pollMs, until, go };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', go);
      this.#lookWithin(Math.min(pollMs, withinMs));
    });
  }

  /** @param go called when the stream's last segment is written to @returns null where it cannot be watched */
  #watchTail(partition: string, go: () => void): FSWatcher | null {
    const path = this.#tails.pathOf(partition);
    if (path === null) return null;
    try {
      const watcher = watch(path, { persistent: false }, go);
      watcher.on('error', go);
      return watcher;
    } catch {
      return null;
    }
  }

  #lookWithin(ms: number): void {
    const at = performance.now() + ms;
    if (this.#looking !== null) {
      if (this.#lookAt <= at) return;
      clearTimeout(this.#looking);
    }
    this.#lookAt = at;
    this.#looking = setTimeout(this.#look, Math.ceil(ms));
  }

  readonly #look = (): void => {
    this.#looking = null;
    const now = performance.now();
    for (const waiter of this.#waiters) {
      if (now >= waiter.until || this.#mayHaveMore(waiter)) waiter.go();
    }
    if (this.#waiters.size === 0) return;
    // A wait that ends sooner than its poll interval is checked at its end, when its consumer has other work.
    const next = [...this.#waiters].map(({ pollMs, until }) => Math.min(pollMs, Math.max(1, until - now)));
    this.#lookWithin(Math.min(...next));
  };

  #mayHaveMore({ partition, offset }: Waiter): boolean {
    try {
      return this.#tails.at(partition, offset)?.isEmptyAt(offset) !== true;
    } catch {
      return true;
    }
  }

  #isWritten(partition: string, offset: bigint): boolean {
    try {
      return this.#tails.at(partition, offset)?.isWrittenAt(offset) === true;
    } catch {
      return false;
    }
  }
}
