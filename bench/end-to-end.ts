import { cpus } from 'node:os';
import { join } from 'node:path';
import { benchmark, progress } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { cpuByPart, used } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, ofContestant } from './harness/rounds.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { drive, quickestGenerator } from './load/generator.ts';
import type { LoadPlan, LoadResult } from './load/plan.ts';
import { untilVisible } from './service/lag.ts';
import { type BenchService, startBenchService } from './service/start.ts';

/**
 * Measures the highest sustained rate of clicks from redirect to `/clicks`: every redirect gets a response and the lag
 * does not grow. The service and the load share the machine.
 *
 *   node bench/end-to-end.ts [--rounds 5] [--seconds 15] [--from 5000] [--lag 1500] [--links 1000] [--closed 60]
 *
 * First in a closed loop of `--closed` seconds a round: each of 64 connections sends its next request when it has its
 * response, from one thread. Then at fixed rates: a rate is sustained if 98 % of its redirects are on time and all clicks are visible `--lag` milliseconds after the
 * last one. Each round searches in steps of 10 % from the rate of the previous round; the first doubles from `--from`.
 * The CPU of each part shows the bottleneck.
 */

const options = readOptions({ seconds: 15, from: 5_000, lag: 1_500, links: 1_000, closed: 60 });
const CLOSED = 'closed loop';
const OPEN = 'open loop';
const STEP = 1.1;
const MOST_STEPS = 12;
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;
const IN_TIME = 0.98;
const CORES = cpus().length;
const ALL_CORES = `0-${CORES - 1}`;
const GENERATOR = 'load generator';

type Turn = {
  rate: number;
  perSecond: number;
  lagMs: number;
  clicks: number;
  failed: number;
  /** Of the load. */
  seconds: number;
  /** CPU seconds of each part until all clicks are visible. */
  cpu: Map<string, number>;
};

type Send = (plan: LoadPlan) => Promise<LoadResult>;
type Tried = Turn & { carried: boolean };

await benchmark(async (bench) => {
  const { links } = options;
  const service = await startBenchService(bench, { dataDir: join(bench.directory, 'data'), links });
  const generator = quickestGenerator(bench);
  let start = options.from;
  let factor = 2;
  const closed = (plan: LoadPlan) => generator.drive(plan, ALL_CORES);
  const open = (plan: LoadPlan) => drive(bench, plan);
  const measured = await alternate<Turn>(options.rounds, [
    { name: CLOSED, measure: () => load(service, null, options.closed, closed) },
    {
      name: OPEN,
      async measure() {
        const best = await highest((rate) => attempt(service, rate, open), start, factor);
        start = best.rate;
        factor = STEP;
        return best;
      },
    },
  ]);
  const inClosed = figuresOf(ofContestant(measured, CLOSED));
  const inOpen = figuresOf(ofContestant(measured, OPEN));
  const loops = [
    { name: `closed, ${CONNECTIONS} connections`, found: inClosed },
    { name: `open, ${IN_TIME * 100} % on time`, found: inOpen },
  ];
  report(options.results, {
    name: 'end-to-end',
    title:
      'The clicks that one machine carries from visitor to /clicks, load generator included: in a closed loop, and at fixed rates',
    versions: [`closed loop by ${generator.version}`],
    tables: [
      {
        header: ['loop', 'clicks/s carried', 'all visible after, ms', 'CPU s a million clicks'],
        rows: loops.map(({ name, found: { rates, lags, cpu } }) => [
          name,
          spread(rates),
          spread(lags),
          spread(cpu, 1),
        ]),
      },
      partsTable('In the closed loop:', inClosed),
      partsTable('In the open loop, at that rate:', inOpen),
    ],
    notes: [`Closed loop: ${bottleneck(inClosed)}`, `Open loop: ${bottleneck(inOpen)}`],
    figures: {
      end_to_end_closed_clicks_per_second: median(inClosed.rates),
      end_to_end_closed_cpu_per_million: median(inClosed.cpu),
      end_to_end_clicks_per_second: median(inOpen.rates),
      end_to_end_cpu_per_million: median(inOpen.serviceCpu),
    },
  });
});

/** What the rounds of one loop measured. */
type Figures = {
  rates: number[];
  lags: number[];
  /** CPU seconds a million clicks, of all parts with and without the load generator. */
  cpu: number[];
  serviceCpu: number[];
  parts: string[];
  busy(part: string): number[];
  perMillion(part: string): number[];
  /** Cores that all parts keep busy. */
  allBusy: number;
};

function figuresOf(turns: readonly Turn[]): Figures {
  const sum = (cpu: Turn['cpu'], without = '') =>
    [...cpu].reduce((all, [part, seconds]) => all + (part === without ? 0 : seconds), 0);
  return {
    rates: turns.map(({ perSecond }) => perSecond),
    lags: turns.map(({ lagMs }) => lagMs),
    cpu: turns.map(({ cpu, clicks }) => (sum(cpu) * 1e6) / clicks),
    serviceCpu: turns.map(({ cpu, clicks }) => (sum(cpu, GENERATOR) * 1e6) / clicks),
    parts: [...(turns[0]?.cpu.keys() ?? [])],
    busy: (part) => turns.map(({ cpu, seconds }) => (cpu.get(part) ?? 0) / seconds),
    perMillion: (part) => turns.map(({ cpu, clicks }) => ((cpu.get(part) ?? 0) * 1e6) / clicks),
    allBusy: median(turns.map(({ cpu, seconds }) => sum(cpu) / seconds)),
  };
}

function partsTable(title: string, { parts, busy, perMillion }: Figures) {
  return {
    title,
    header: ['part', 'cores busy', 'CPU s a million clicks'],
    rows: parts
      .toSorted((a, b) => median(busy(b)) - median(busy(a)))
      .map((part) => [part, spread(busy(part), 2), spread(perMillion(part), 1)]),
  };
}

function bottleneck({ parts, busy, allBusy }: Figures): string {
  const [most = ''] = parts.toSorted((a, b) => median(busy(b)) - median(busy(a)));
  const share = `${most} uses most, ${number(median(busy(most)), 2)} of a core`;
  if (allBusy > 0.9 * CORES)
    return `the machine limits, ${number(allBusy, 2)} of ${CORES} cores are busy; ${share}.`;
  if (median(busy(most)) > 0.85) return `${most} limits, ${number(median(busy(most)), 2)} of a core.`;
  return `waiting limits rather than CPU (${number(allBusy, 2)} of ${CORES} cores are busy); ${share}.`;
}

/** Raises the rate from `start` until one is not sustained, or lowers it until one is. */
async function highest(
  attemptAt: (rate: number) => Promise<Tried>,
  start: number,
  factor: number,
): Promise<Turn> {
  let best: Tried | null = null;
  let step = factor;
  let rate = start;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const tried = await attemptAt(Math.round(rate));
    progress(
      `${number(tried.rate)} clicks/s: ${tried.carried ? 'carried' : 'not carried'}, ${number(tried.perSecond)} answered, lag ${number(tried.lagMs)} ms`,
    );
    if (tried.carried) {
      best = tried;
      rate *= step;
    } else if (best === null) {
      rate /= step;
    } else if (step > STEP) {
      // Doubled too far: continue in small steps from the last sustained rate.
      step = STEP;
      rate = best.rate * step;
    } else {
      return best;
    }
    if (best !== null && tried.carried && tried.rate < start) return best;
  }
  if (best === null) throw new Error(`no rate down to ${number(rate)} clicks/s is sustained`);
  return best;
}

async function attempt(service: BenchService, rate: number, send: Send): Promise<Tried> {
  const turn = await load(service, rate, options.seconds, send);
  const inTime = turn.failed === 0 && turn.perSecond >= IN_TIME * rate;
  return { ...turn, rate, carried: inTime && turn.lagMs <= options.lag };
}

/** Sends redirects at a rate, null: in a closed loop, and waits until all clicks are visible. */
async function load(service: BenchService, rate: number | null, seconds: number, send: Send): Promise<Turn> {
  const { heads } = clicksOnLinks(1, true);
  const before = cpuByPart(service.pid);
  const plan: LoadPlan = {
    port: service.ingestPort,
    connections: CONNECTIONS,
    warmUpSeconds: rate === null ? 0 : WARM_UP_SECONDS,
    seconds,
    rate,
    sharesCore: true,
    hot: service.slugs,
    cold: [],
    coldShare: 0,
    heads,
  };
  const done = await send(plan);
  const ended = Date.now();
  await untilVisible(service.pool, ended);
  const lagMs = Date.now() - ended;
  const whole = plan.warmUpSeconds + done.seconds;
  const cpu = used(before, cpuByPart(service.pid));
  cpu.set(GENERATOR, (done.cpu * whole) / done.seconds);
  const { perSecond, total: clicks, failed } = done;
  return { rate: rate ?? perSecond, perSecond, lagMs, clicks, failed, seconds: whole, cpu };
}
