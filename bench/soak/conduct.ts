import { setTimeout as delay } from 'node:timers/promises';
import { chooseFault, type Fault } from './faults.ts';
import { APIS, INGEST, type Parts, WORKERS } from './parts.ts';
import type { Poller } from './poller.ts';
import type { Random } from './random.ts';

/** Faults of a run. Times in milliseconds since the epoch, durations in seconds. */
export type Course = {
  /** Number of faults of each kind. */
  struck: Map<string, number>;
  /** Times from a recovery to the next fault. */
  quiet: { from: number; to: number }[];
  /** Recovery time after the end of each fault. */
  recoveries: { after: string; seconds: number }[];
};

/** Limit for recovery after all parts run again. */
const RECOVERY_LIMIT_MS = 600_000;
const SECOND_FAULT = 0.25;

/**
 * Causes faults, one or two at a time with pauses in between, until the end; then all parts run again. Without faults,
 * only waits.
 *
 * @throws Error when the deployment does not recover, or the signal fires
 */
export async function conduct(given: {
  parts: Parts;
  poller: Poller;
  faults: Fault[];
  random: Random;
  until: number;
  signal: AbortSignal;
  say: (text: string) => void;
}): Promise<Course> {
  const { parts, poller, faults, random, until, signal, say } = given;
  const course: Course = { struck: new Map(), quiet: [], recoveries: [] };
  const pause = (seconds: number) => delay(seconds * 1_000, undefined, { signal });

  async function strike(fault: Fault): Promise<{ away: number; mend: () => Promise<void> }> {
    course.struck.set(fault.name, (course.struck.get(fault.name) ?? 0) + 1);
    const away = random.between(...fault.away);
    const { struck, mend } = await fault.strike();
    say(`${fault.name}: ${struck}${away > 0 ? `, for ${away.toFixed(1)} s` : ''}`);
    return { away, mend };
  }

  /** Waits until all earlier clicks are visible and every process is healthy. */
  async function recovered(from: number): Promise<void> {
    const limit = Date.now() + RECOVERY_LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      const isVisible = poller.watermark() > from;
      const unwell = isVisible ? await whoIsUnwell(parts) : [];
      if (isVisible && unwell.length === 0) return;
      if (Date.now() > limit) {
        const stands = `the watermark stands at ${new Date(poller.watermark()).toISOString()}`;
        const seconds = RECOVERY_LIMIT_MS / 1_000;
        throw new Error(
          `no recovery within ${seconds} s: ${stands}, not well: ${unwell.join(', ') || 'none'}`,
        );
      }
      await delay(250);
    }
  }

  await recovered(Date.now());
  if (faults.length === 0) {
    const from = Date.now();
    await delay(Math.max(0, until - from), undefined, { signal });
    course.quiet.push({ from, to: Date.now() });
    return course;
  }
  while (Date.now() < until) {
    const from = Date.now();
    await pause(random.between(4, 9));
    course.quiet.push({ from, to: Date.now() });

    const first = chooseFault(faults, random, null);
    const second = random.happens(SECOND_FAULT) ? chooseFault(faults, random, first) : null;
    const one = await strike(first);
    if (second) {
      await pause(one.away / 2);
      const two = await strike(second);
      await pause(two.away);
      await two.mend();
    }
    await pause(second ? one.away / 2 : one.away);
    await one.mend();
    const mended = Date.now();
    await recovered(mended);
    const seconds = (Date.now() - mended) / 1_000;
    const after = second ? `${first.name}, ${second.name}` : first.name;
    course.recoveries.push({ after, seconds });
    say(`well again after ${seconds.toFixed(1)} s`);
  }
  return course;
}

async function whoIsUnwell({ deployment }: Parts): Promise<string[]> {
  const services = [...INGEST, ...WORKERS, ...APIS];
  const unwell: string[] = [];
  for (const service of services) if (!(await deployment.isHealthy(service))) unwell.push(service);
  return unwell;
}
