import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeLink } from '../test/support/first-click.ts';
import { NO_KAFKA } from '../test/support/kafka.ts';
import { account } from './soak/account.ts';
import { conduct } from './soak/conduct.ts';
import { createFaults } from './soak/faults.ts';
import { createHeapProbe } from './soak/inspector.ts';
import { type Asked, startLoad } from './soak/load.ts';
import { startMemoryWatch } from './soak/memory.ts';
import { APIS, INGEST, type Parts, startParts, WORKERS } from './soak/parts.ts';
import { type Poller, startPoller } from './soak/poller.ts';
import { createRandom } from './soak/random.ts';
import { reportIdle, reportSoak } from './soak/report.ts';
import { startSingleNode } from './soak/single-node.ts';
import { startWatch } from './soak/watch.ts';

/**
 * Kills random parts of a cluster under load, and counts every visitor at the end.
 *
 *   npm run soak -- --minutes 30 [--rate 100] [--seed 7]     kills random parts
 *   npm run soak -- --minutes 10 --hosts 2                   also cuts the networks of hosts, and kills them (root)
 *   npm run soak -- --minutes 60 --calm                      kills nothing
 *   npm run soak -- --minutes 360 --idle                     no load and no faults, beside an idle `npm start`
 *
 * Everything runs on this machine: three brokers, PostgreSQL, ClickHouse, and the processes of docker-compose.yml,
 * behind nginx if installed. The same seed causes the same faults. Exits with 1 if a click is lost, stored twice, or
 * missed by the poller, if a watermark moves back, or if the deployment does not recover. Also if the heap of a
 * process, after a forced collection, has grown by over 10 % (`--idle`: 5 %) since its tenth minute, or if the idle
 * `npm start` takes more memory than its limit at rest.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '100' },
    seed: { type: 'string' },
    /** Causes no faults, to measure the memory of long-running processes. */
    calm: { type: 'boolean', default: false },
    idle: { type: 'boolean', default: false },
    /** 2: the processes of Hoplog run on two hosts, which also lose their networks and die. */
    hosts: { type: 'string', default: '1' },
    /** Minutes after which the heap of a process must be stable. */
    'warm-up': { type: 'string', default: '10' },
    /** Folder of the report; empty: bench/results. */
    out: { type: 'string', default: '' },
  },
});
if (!['1', '2'].includes(values.hosts))
  throw new RangeError(`\`--hosts\` is ${values.hosts}: must be 1 or 2`);
const minutes = positive('minutes', values.minutes);
const rate = positive('rate', values.rate);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : positive('seed', values.seed);
const warmUpMs = positive('warm-up', values['warm-up']) * 60_000;
/** Permitted growth of a heap after the warm-up, a fraction. */
const GROWTH_LIMIT = { busy: 0.1, idle: 0.05 };
const LINKS = 10;
/** Limit to store all events of journals and brokers at the end. */
const DRAIN_LIMIT_MS = 600_000;

const began = performance.now();
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`stopped by ${signal}`)));
}

function say(text: string): void {
  process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${text}\n`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new RangeError(`\`--${name}\` is ${text}: must be a number above 0`);
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
  const memory = startMemoryWatch({
    processes: () => processesOf(parts),
    measure: createHeapProbe(parts.deployment.log),
    warmUpMs,
    say,
  });
  const load = startLoad({ origins: parts.redirects, slugs, rate });
  try {
    const until = Date.now() + minutes * 60_000;
    say(`${rate} redirects a second for ${minutes} minutes; seed ${seed}`);
    const faults = values.calm ? [] : createFaults(parts, random);
    const course = await conduct({ parts, poller, faults, random, until, signal, say });
    await load.stop();
    say('no more visitors; waiting until everything is stored');
    await drained(poller, load.asked, signal);
    await poller.stop();
    const courses = await memory.finish();
    const counted = await account(parts, load.asked, poller);
    await watch.stop();
    return reportSoak({
      folder: values.out,
      kind: values.calm ? 'calm' : values.hosts === '2' ? 'hosts' : 'faults',
      minutes,
      rate,
      seed,
      asked: load.asked,
      poller,
      course,
      counted,
      watch,
      memory: { courses, limit: GROWTH_LIMIT.busy, warmUpMs },
    });
  } finally {
    await Promise.all([load.stop(), poller.stop(), watch.stop(), memory.finish()]);
  }
}

/** Runs an idle cluster beside an idle `npm start`. */
async function standIdle(parts: Parts): Promise<boolean> {
  say('starting the service as `npm start` does');
  const single = await startSingleNode();
  try {
    const log = () => parts.deployment.log() + single.log();
    const processes = () => [...processesOf(parts), ...single.processes()];
    const memory = startMemoryWatch({ processes, measure: createHeapProbe(log), warmUpMs, say });
    say(`nothing happens for ${minutes} minutes`);
    const { signal } = interrupted;
    await delay(minutes * 60_000, undefined, { signal }).catch(() => undefined);
    const courses = await memory.finish();
    signal.throwIfAborted();
    const rest = single.memory();
    return reportIdle({
      rest,
      folder: values.out,
      minutes,
      memory: { courses, limit: GROWTH_LIMIT.idle, warmUpMs },
    });
  } finally {
    await single.close();
  }
}

/** Returns the running Hoplog processes of the cluster. */
function processesOf({ deployment }: Parts): { name: string; pid: number }[] {
  return [...INGEST, ...WORKERS, ...APIS].flatMap((name) => {
    const pid = deployment.pid(name);
    return pid === null ? [] : [{ name, pid }];
  });
}

/** Waits until the watermark has passed this time and the poller has read up to it. */
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
  const parts = await startParts({ hosts: values.hosts === '2', say, signal: interrupted.signal });
  try {
    return (await (values.idle ? standIdle(parts) : soak(parts))) ? 0 : 1;
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
