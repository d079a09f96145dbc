import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
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

/** Runs `work` again and again. A round that fails is logged, counted, and made again at its next time. */
export function startClock(options: ClockOptions): Clock {
  const { name, everyMs, log, metrics, work } = options;
  const end = new AbortController();
  let failing = false;

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
      if (await round()) continue;
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
