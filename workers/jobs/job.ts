import { adviceOn } from '../../core/databases/advice.ts';
import type { Logger } from '../../core/tier/log.ts';
import { AHEAD_MICROS, createWallClock } from '../../core/time/wall-clock.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { untilNextTick } from '../next-tick.ts';
import { causeOf } from '../retry.ts';

export type Job = {
  /** Starts a run at once, or another one behind the run under way. */
  wake(): void;
  /** Resolves when the run under way, and one that `wake` requested, are over. */
  stop(): Promise<void>;
};

/** Jobs of this interval or a shorter one run together. Milliseconds. */
const TOGETHER_MS = 1_000;

export type JobOptions = {
  name: string;
  /** Milliseconds, or a function that returns them before each wait. */
  everyMs: number | (() => number);
  /**
   * Whether it runs together with the others at any interval, because they share the query of {@link
   * import('./waiting.ts').Waiting}. Otherwise each would need a connection of its own at that moment.
   */
  isShared?: boolean;
  log: Logger;
  metrics: WorkerMetrics;
  /**
   * One run.
   *
   * @param isWoken whether `wake` requested it
   * @returns whether another run should follow at once
   */
  work: (isWoken: boolean) => Promise<boolean>;
};

/**
 * Runs `work` on a schedule. A failed run is logged and counted; the next one runs on schedule. While the wall clock
 * has been ahead of the monotonic clock for less than a minute nothing runs, because a deletion or a payment that comes
 * too early cannot be undone.
 */
export function startJob(options: JobOptions): Job {
  const { name, everyMs, isShared = false, log, metrics, work } = options;
  const clock = createWallClock();
  let isStopped = false;
  let isWoken = false;
  let isFailing = false;
  let isHeld = false;
  let endWait: () => void = () => undefined;

  function isTimely(): boolean {
    const found = clock.check();
    // A job keeps no time of its own, so it follows a clock that is set back.
    if (found?.step === 'behind' || found?.step === 'returned') clock.set(clock.wall());
    const held = clock.wall() - clock.now() > AHEAD_MICROS;
    if (held && !isHeld) {
      log.warn(
        { job: name },
        'the wall clock jumped ahead; the job waits until it has stayed ahead for a minute',
      );
    }
    isHeld = held;
    return !held;
  }

  async function runIfTimely(): Promise<boolean> {
    const woken = isWoken;
    isWoken = false;
    if (!isTimely()) return false;
    try {
      const more = await work(woken);
      isFailing = false;
      return more;
    } catch (error) {
      metrics.retries.inc({ step: name, cause: causeOf(error) });
      // Logged once for each outage, not for each run.
      if (!isFailing) {
        const { message = 'job failed', ...more } = adviceOn(error) ?? {};
        log.warn({ job: name, err: error, ...more }, `${message}; will retry`);
      }
      isFailing = true;
      return false;
    }
  }

  async function wait(): Promise<void> {
    if (isWoken || isStopped) return;
    await new Promise<void>((resolve) => {
      const ms = typeof everyMs === 'number' ? everyMs : everyMs();
      const timer = setTimeout(resolve, isShared || ms <= TOGETHER_MS ? untilNextTick(ms) : ms);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      if (await runIfTimely()) continue;
      await wait();
    }
    if (isWoken) await runIfTimely();
  }

  const running = run();
  return {
    wake() {
      isWoken = true;
      endWait();
    },
    async stop() {
      isStopped = true;
      endWait();
      await running;
    },
  };
}
