import { setTimeout as delay } from 'node:timers/promises';
import { chooseFault, type Fault } from './faults.ts';
import { APIS, INGEST, type Parts, WORKERS } from './parts.ts';
import type { Poller } from './poller.ts';
import type { Random } from './random.ts';

/** What happened to the deployment. Times in milliseconds since the epoch, lengths in seconds. */
export type Course = {
  /** How often each kind of fault struck. */
  struck: Map<string, number>;
  /** From a recovery to the next fault. */
  quiet: { from: number; to: number }[];
  /** How long after its end each fault was felt. */
  recoveries: { after: string; seconds: number }[];
};

/** So old may the watermark be when all is well. */
const FRESH_MS = 3_000;
/** A deployment that is not well so long after everything is back will not get well. */
const RECOVERY_LIMIT_MS = 240_000;
const SECOND_FAULT = 0.25;

/**
 * Lets faults strike, one after the other and sometimes two at once, with quiet in between, until it is time; then
 * every part is back.
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

  async function recovered(): Promise<void> {
    const limit = Date.now() + RECOVERY_LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      if (Date.now() - poller.watermark() < FRESH_MS && (await allAreWell(parts))) return;
      if (Date.now() > limit) {
        const stands = new Date(poller.watermark()).toISOString();
        throw new Error(
          `no recovery within ${RECOVERY_LIMIT_MS / 1_000} s: the watermark stands at ${stands}`,
        );
      }
      await delay(250);
    }
  }

  await recovered();
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
    await recovered();
    const seconds = (Date.now() - mended) / 1_000;
    const after = second ? `${first.name}, ${second.name}` : first.name;
    course.recoveries.push({ after, seconds });
    say(`well again after ${seconds.toFixed(1)} s`);
  }
  return course;
}

async function allAreWell({ deployment }: Parts): Promise<boolean> {
  for (const service of [...INGEST, ...WORKERS, ...APIS]) {
    if (!(await deployment.isHealthy(service))) return false;
  }
  return true;
}
