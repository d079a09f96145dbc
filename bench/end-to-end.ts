import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Bench, benchmark, progress } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { cpuByPart, used } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, ofContestant } from './harness/rounds.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { drive } from './load/generator.ts';
import { untilVisible } from './service/lag.ts';
import { type BenchService, startBenchService } from './service/start.ts';

/**
 * Measures the highest sustained rate of clicks from redirect to `/clicks`: every redirect gets a response and the lag
 * does not grow. The service and the load share the machine.
 *
 *   node bench/end-to-end.ts [--rounds 5] [--seconds 15] [--from 5000] [--lag 1500] [--links 1000]
 *
 * A rate is sustained if 98 % of its redirects are on time and all clicks are visible `--lag` milliseconds after the
 * last one. Each round searches in steps of 10 % from the rate of the previous round; the first doubles from `--from`.
 * The CPU of each part shows the bottleneck.
 */

const options = readOptions({ seconds: 15, from: 5_000, lag: 1_500, links: 1_000 });
const STEP = 1.1;
const MOST_STEPS = 12;
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;
const IN_TIME = 0.98;
const CORES = cpus().length;
const GENERATOR = 'load generator';

type Tried = {
  rate: number;
  carried: boolean;
  perSecond: number;
  lagMs: number;
  clicks: number;
  /** Of the load. */
  seconds: number;
  /** CPU seconds of each part until all clicks are visible. */
  cpu: Map<string, number>;
};

type Turn = Omit<Tried, 'carried'>;

await benchmark(async (bench) => {
  const { links } = options;
  const service = await startBenchService(bench, { dataDir: join(bench.directory, 'data'), links });
  let start = options.from;
  let factor = 2;
  const measured = await alternate(options.rounds, [
    {
      name: 'hoplog',
      async measure() {
        const best = await highest(bench, service, start, factor);
        start = best.rate;
        factor = STEP;
        return best;
      },
    },
  ]);
  const turns = ofContestant(measured, 'hoplog');
  const parts = [...(turns[0]?.cpu.keys() ?? [])];
  const busy = (part: string) => turns.map(({ cpu, seconds }) => (cpu.get(part) ?? 0) / seconds);
  const perMillion = (part: string) => turns.map(({ cpu, clicks }) => ((cpu.get(part) ?? 0) * 1e6) / clicks);
  const all = turns.map(({ cpu, seconds }) => [...cpu.values()].reduce((a, b) => a + b, 0) / seconds);
  const rates = turns.map(({ perSecond }) => perSecond);
  report(options.results, {
    name: 'end-to-end',
    title:
      'The highest rate of clicks that one machine carries from visitor to /clicks, load generator included',
    versions: [],
    tables: [
      {
        header: ['clicks/s carried', 'all visible after, ms'],
        rows: [[spread(rates), spread(turns.map(({ lagMs }) => lagMs))]],
      },
      {
        title: 'At that rate:',
        header: ['part', 'cores busy', 'CPU s a million clicks'],
        rows: parts
          .toSorted((a, b) => median(busy(b)) - median(busy(a)))
          .map((part) => [part, spread(busy(part), 2), spread(perMillion(part), 1)]),
      },
    ],
    notes: [bottleneck(parts, busy, median(all))],
    figures: {
      end_to_end_clicks_per_second: median(rates),
      end_to_end_cpu_per_million: median(
        turns.map(({ cpu, clicks }) => {
          const service = [...cpu].reduce((sum, [part, used]) => sum + (part === GENERATOR ? 0 : used), 0);
          return (service * 1e6) / clicks;
        }),
      ),
    },
  });
});

function bottleneck(parts: string[], busy: (part: string) => number[], all: number): string {
  const [most = ''] = parts.toSorted((a, b) => median(busy(b)) - median(busy(a)));
  const share = `${most} uses most, ${number(median(busy(most)), 2)} of a core`;
  if (all > 0.9 * CORES)
    return `Bottleneck: the machine, ${number(all, 2)} of ${CORES} cores are busy; ${share}.`;
  if (median(busy(most)) > 0.85) return `Bottleneck: ${most}, ${number(median(busy(most)), 2)} of a core.`;
  return `Bottleneck: waiting rather than CPU (${number(all, 2)} of ${CORES} cores are busy); ${share}.`;
}

/** Raises the rate from `start` until one is not sustained, or lowers it until one is. */
async function highest(bench: Bench, service: BenchService, start: number, factor: number): Promise<Turn> {
  let best: Tried | null = null;
  let step = factor;
  let rate = start;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const tried = await attempt(bench, service, Math.round(rate));
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

async function attempt(bench: Bench, service: BenchService, rate: number): Promise<Tried> {
  const { heads } = clicksOnLinks(1, true);
  const before = cpuByPart(service.pid);
  const load = await drive(bench, {
    port: service.ingestPort,
    connections: CONNECTIONS,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: options.seconds,
    rate,
    sharesCore: true,
    hot: service.slugs,
    cold: [],
    coldShare: 0,
    heads,
  });
  const ended = Date.now();
  await untilVisible(service.pool, ended);
  const lagMs = Date.now() - ended;
  const seconds = WARM_UP_SECONDS + load.seconds;
  const cpu = used(before, cpuByPart(service.pid));
  cpu.set(GENERATOR, (load.cpu * seconds) / load.seconds);
  const inTime = load.failed === 0 && load.perSecond >= IN_TIME * rate;
  const carried = inTime && lagMs <= options.lag;
  return { rate, carried, perSecond: load.perSecond, lagMs, clicks: load.total, seconds, cpu };
}
