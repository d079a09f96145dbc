import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import { AHEAD_MICROS, createWallClock } from '../../core/time/wall-clock.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { causeOf } from '../retry.ts';

export type Clock = { stop(): Promise<void> };

export type ClockOptions = {
  name: string;
  everyMs: number;
  log: Logger;
  metrics: WorkerMetrics;
  /** One round. Resolves with true when another one should follow at once. */
  work: () => Promise<boolean>;
};

/**
 * Runs `work` again and again. A run that fails is logged, counted, and made again at its next time. While the wall clock is ahead of
 * the monotonic clock since less than a minute nothing runs: what is dropped or paid because its time has come does not come back.
 */
export function startClock(options: ClockOptions): Clock {
  const { name, everyMs, log, metrics, work } = options;
  const end = new AbortController();
  const clock = createWallClock();
  let failing = false;
  let isHeld = false;

  function isTimely(): boolean {
    const found = clock.check();
    // A job keeps no time of its own, so it follows a clock that is set back.
    if (found?.step === 'behind' || found?.step === 'returned') clock.set(clock.wall());
    const held = clock.wall() - clock.now() > AHEAD_MICROS;
    if (held && !isHeld)
      log.warn({ job: name }, 'the wall clock jumped ahead: the job waits until it has stayed for a minute');
    isHeld = held;
    return !held;
  }

  async function round(): Promise<boolean> {
    try {
      const more = await work();
      failing = false;
      return more;
    } catch (error) {
      metrics.retries.inc({ step: name, cause: causeOf(error) });
      // Once per outage, not once per round.
      if (!failing) log.warn({ clock: name, err: error }, 'round failed, will be made again');
      failing = true;
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!end.signal.aborted) {
      if (isTimely() && (await round())) continue;
      await sleep(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      end.abort();
      await running;
    },
  };
}
