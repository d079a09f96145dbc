import { benchmark, progress } from './harness/bench.ts';
import { packageVersion } from './harness/machine.ts';
import { readOptions } from './harness/options.ts';
import { cpuSeconds, pin, requireTwoCores, residentMiB } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { makeDatabase, startPostgres } from './harness/stores.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { quickestGenerator } from './load/generator.ts';
import { type RedirectTier, requireJournaled, startRedirectTier } from './servers/ingest.ts';

/**
 * What many links cost: redirects a second and memory of ingest processes that hold 1,000 and 1,000,000 links, in
 * turns on the same core, 99 % of the visitors on 10,000 of the links.
 *
 *   node bench/redirect-links.ts [--sizes 1000,1000000] [--rounds 5] [--seconds 8] [--connections 64]
 *
 * Each size is a database and a process of its own; `--sizes 1000,1000000,10000000` also holds ten million (about
 * 4 GiB of memory and 8 GiB of disk). The table of links is not bounded: every link of PostgreSQL is in it.
 */

const options = readOptions({ sizes: '1000,1000000', seconds: 8, connections: 64 });
const sizes = options.sizes.split(',').map(Number);
if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new Error(`--sizes ${options.sizes}`);

type Turn = { perSecond: number; perCpuSecond: number; p99: number; residentMiB: number };
type Sized = { size: number; tier: RedirectTier; loadSeconds: number; answered: number };

await benchmark(async (bench) => {
  requireTwoCores();
  const postgres = await startPostgres(bench);
  pin(postgres.pid, '1');
  const all: Sized[] = [];
  for (const size of sizes) {
    progress(`filling ${number(size)} links`);
    const name = `links_${size}`;
    const database = await makeDatabase(bench, postgres.url, name);
    const began = performance.now();
    const tier = await startRedirectTier(bench, database, { name, links: size, cores: '0' });
    all.push({ size, tier, loadSeconds: (performance.now() - began) / 1_000, answered: 0 });
  }
  const generator = quickestGenerator(bench);
  const { connections, seconds } = options;

  async function turn(sized: Sized): Promise<Turn> {
    const { tier } = sized;
    const before = cpuSeconds(tier.pid);
    const plan = { port: tier.port, connections, seconds, warmUpSeconds: 0, rate: null };
    const { total, failed, perSecond, p99 } = await generator.drive(
      { ...plan, ...clicksOnLinks(sized.size) },
      '1',
    );
    if (failed > 0) throw new Error(`${failed} of ${total} requests failed`);
    sized.answered += total;
    await requireJournaled(tier, sized.answered);
    const perCpuSecond = total / (cpuSeconds(tier.pid) - before);
    return { perSecond, perCpuSecond, p99, residentMiB: residentMiB(tier.pid) };
  }

  const contestants: Contestant<Turn>[] = all.map((sized) => ({
    name: number(sized.size),
    measure: () => turn(sized),
  }));
  for (const { measure } of contestants) await measure(-1); // caches, compilers
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Turn) => ofContestant(measured, name).map((one) => one[key]);
  const [fewest] = contestants;
  const largest = contestants.at(-1);
  if (!fewest || !largest) throw new Error('--sizes is empty');
  report(options.results, {
    name: 'redirect-links',
    question: 'Redirects a second on one core by the number of links, 99 % of the visitors on 10,000 of them',
    versions: [packageVersion('uWebSockets.js'), generator.version],
    tables: [
      {
        header: [
          'links',
          'redirects/s',
          'of those with the fewest',
          'redirects a CPU second',
          'p99 ms',
          'RSS MiB',
        ],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          spread(ratios(of(name, 'perSecond'), of(fewest.name, 'perSecond')), 2),
          spread(of(name, 'perCpuSecond')),
          spread(of(name, 'p99'), 2),
          number(Math.max(...of(name, 'residentMiB'))),
        ]),
      },
    ],
    notes: [
      'Wanted: at least 0.90 of those with the fewest.',
      `Filled and loaded within ${all.map(({ size, loadSeconds }) => `${number(loadSeconds, 1)} s (${number(size)})`).join(', ')}.`,
    ],
    figures: {
      links: sizes.at(-1) ?? 0,
      links_ratio: median(ratios(of(largest.name, 'perSecond'), of(fewest.name, 'perSecond'))),
      links_resident_mib: Math.max(...of(largest.name, 'residentMiB')),
    },
  });
});
