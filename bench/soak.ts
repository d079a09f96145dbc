import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeLink } from '../test/support/first-click.ts';
import { NO_KAFKA } from '../test/support/kafka.ts';
import { account } from './soak/account.ts';
import { conduct } from './soak/conduct.ts';
import { createFaults } from './soak/faults.ts';
import { type Asked, startLoad } from './soak/load.ts';
import { type Parts, startParts } from './soak/parts.ts';
import { type Poller, startPoller } from './soak/poller.ts';
import { createRandom } from './soak/random.ts';
import { reportSoak } from './soak/report.ts';
import { startWatch } from './soak/watch.ts';

/**
 * Kills random parts of the scaled deployment under load, and counts every visitor at the end.
 *
 *   npm run soak -- --minutes 30 [--rate 100] [--seed 7]
 *
 * Everything runs on this machine: three brokers, PostgreSQL, ClickHouse and the processes of docker-compose.yml,
 * behind nginx where it is installed. The same seed strikes the same blows. Ends with status 1 when a click is lost,
 * stored twice or missed by the poller, when a watermark goes back, or when the deployment does not recover.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '100' },
    seed: { type: 'string' },
    /** Folder of the report; empty: bench/results. */
    out: { type: 'string', default: '' },
  },
});
const minutes = positive('minutes', values.minutes);
const rate = positive('rate', values.rate);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : positive('seed', values.seed);
const LINKS = 10;
/** What waits in journals and brokers at the end has to be stored within this time. */
const DRAIN_LIMIT_MS = 600_000;

const began = performance.now();
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)));
}

function say(text: string): void {
  process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${text}\n`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new RangeError(`--${name} ${text}: must be a number above 0`);
  return value;
}

async function soak(parts: Parts): Promise<boolean> {
  const { signal } = interrupted;
  const random = createRandom(seed);
  const service = { api_url: parts.apis[0] ?? '', short_url: parts.redirects[0] ?? '' };
  const slugs: string[] = [];
  for (let n = 0; n < LINKS; n++) slugs.push((await makeLink(service, parts.key, `soak ${n}`)).slug);
  const poller = startPoller(parts.apis, parts.key);
  const watch = startWatch(parts, say);
  const load = startLoad({ origins: parts.redirects, slugs, rate });
  try {
    const until = Date.now() + minutes * 60_000;
    say(`${rate} redirects a second for ${minutes} minutes; seed ${seed}`);
    const faults = createFaults(parts, random);
    const course = await conduct({ parts, poller, faults, random, until, signal, say });
    await load.stop();
    say('no more visitors; waiting until everything is stored');
    await drained(poller, load.asked, signal);
    await poller.stop();
    const counted = await account(parts, load.asked, poller);
    await watch.stop();
    return reportSoak({
      folder: values.out,
      minutes,
      rate,
      seed,
      asked: load.asked,
      poller,
      course,
      counted,
      watch,
    });
  } finally {
    await Promise.all([load.stop(), poller.stop(), watch.stop()]);
  }
}

/** Waits until the watermark has passed this moment and the poller has seen what is behind it. */
async function drained(poller: Poller, asked: Asked, signal: AbortSignal): Promise<void> {
  const now = Date.now();
  const limit = now + DRAIN_LIMIT_MS;
  while (poller.watermark() <= now) {
    if (Date.now() > limit) {
      const missing = [...asked.answered.keys()].filter((visitor) => !poller.seen.has(visitor)).length;
      throw new Error(`${missing} clicks are not visible ${DRAIN_LIMIT_MS / 1_000} s after the last one`);
    }
    await delay(100, undefined, { signal });
  }
  const polls = poller.polls();
  while (poller.polls() < polls + 2 && Date.now() < limit) await delay(50, undefined, { signal });
}

async function main(): Promise<number> {
  if (NO_KAFKA !== false) throw new Error(NO_KAFKA);
  const parts = await startParts(say, interrupted.signal);
  try {
    return (await soak(parts)) ? 0 : 1;
  } catch (error) {
    if (!interrupted.signal.aborted) process.stderr.write(`${parts.deployment.log().slice(-20_000)}\n`);
    throw error;
  } finally {
    say('ending every process');
    await parts.close();
  }
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${interrupted.signal.aborted ? 'interrupted' : error}\n`);
  return interrupted.signal.aborted ? 130 : 1;
});
