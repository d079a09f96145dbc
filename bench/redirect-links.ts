import { benchmark, progress } from './harness/bench.ts';
import { packageVersion } from './harness/machine.ts';
import { readOptions } from './harness/options.ts';
import { cpuSeconds, leaveCore0, residentMiB } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { makeDatabase, startPostgres } from './harness/stores.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { quickestGenerator } from './load/generator.ts';
import { type RedirectTier, requireJournaled, startRedirectTier } from './servers/ingest.ts';

/**
 * Measures the cost of many links: redirects per second and memory of ingest processes with 1,000 and 1,000,000 links
 * in memory, and 20,000 of 10,000,000 (`INGEST_LINKS_IN_MEMORY`). They alternate on one core; 99 % of the visitors use
 * 10,000 of the links.
 *
 *   node bench/redirect-links.ts [--sizes 1000,1000000,10000000:20000] [--rounds 5] [--seconds 8] [--connections 64]
 *
 * Each size has its own database and process. Ten million links need 8 GiB of disk in PostgreSQL, 2 GiB in the table,
 * and about 15 minutes. PostgreSQL shares the other core with the generator. A bounded table starts with no links in
 * memory; visits fill it.
 */

const options = readOptions({ sizes: '1000,1000000,10000000:20000', seconds: 8, connections: 64 });

type Turn = {
  perSecond: number;
  perCpuSecond: number;
  p99: number;
  residentMiB: number;
  /** Slugs read from disk, per second. */
  read: number;
  /** Slugs looked up in PostgreSQL, per second. */
  asked: number;
};
type Size = { name: string; links: number; most: string };
type Sized = Size & { tier: RedirectTier; loadSeconds: number; answered: number };

const sizes = options.sizes.split(',').map((text): Size => {
  const match = /^([1-9]\d*)(?::([1-9]\d*))?$/.exec(text);
  if (match === null)
    throw new Error(`\`--sizes\` is ${options.sizes}: must be a list such as 1000,10000000:20000`);
  const [links, most] = [Number(match[1]), match[2] ?? 'all'];
  const name = number(links) + (most === 'all' ? '' : `, ${number(Number(most))} in memory`);
  return { name, links, most };
});

await benchmark(async (bench) => {
  leaveCore0();
  const postgres = await startPostgres(bench);
  const all: Sized[] = [];
  for (const size of sizes) {
    progress(`filling ${number(size.links)} links`);
    const name = `links_${size.links}_${size.most}`;
    const database = await makeDatabase(bench, postgres.url, name);
    const began = performance.now();
    const env = { INGEST_LINKS_IN_MEMORY: size.most };
    const tier = await startRedirectTier(bench, database, { name, links: size.links, cores: '0', env });
    all.push({ ...size, tier, loadSeconds: (performance.now() - began) / 1_000, answered: 0 });
  }
  const generator = quickestGenerator(bench);
  const { connections, seconds } = options;

  async function turn(sized: Sized): Promise<Turn> {
    const { tier } = sized;
    const before = cpuSeconds(tier.pid);
    const missedBefore = await tier.missed();
    const plan = { port: tier.port, connections, seconds, warmUpSeconds: 0, rate: null };
    const { total, failed, perSecond, p99 } = await generator.drive(
      { ...plan, ...clicksOnLinks(sized.links) },
      '1',
    );
    if (failed > 0) throw new Error(`${failed} of ${total} requests failed`);
    sized.answered += total;
    await requireJournaled(tier, sized.answered);
    const perCpuSecond = total / (cpuSeconds(tier.pid) - before);
    const missed = await tier.missed();
    return {
      perSecond,
      perCpuSecond,
      p99,
      residentMiB: residentMiB(tier.pid),
      read: (missed.read - missedBefore.read) / seconds,
      asked: (missed.asked - missedBefore.asked) / seconds,
    };
  }

  const contestants: Contestant<Turn>[] = all.map((sized) => ({
    name: sized.name,
    measure: () => turn(sized),
  }));
  for (const { measure } of contestants) await measure(-1); // Warm-up of caches and compilers.
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Turn) => ofContestant(measured, name).map((one) => one[key]);
  const [fewest] = contestants;
  const largest = contestants.at(-1);
  if (!fewest || !largest) throw new Error('`--sizes` must not be empty');
  report(options.results, {
    name: 'redirect-links',
    title: 'Redirects a second on one core by the number of links, 99 % of the visitors on 10,000 of them',
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
          'read from disk/s',
          'asked of PostgreSQL/s',
        ],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          spread(ratios(of(name, 'perSecond'), of(fewest.name, 'perSecond')), 2),
          spread(of(name, 'perCpuSecond')),
          spread(of(name, 'p99'), 2),
          number(Math.max(...of(name, 'residentMiB'))),
          spread(of(name, 'read')),
          spread(of(name, 'asked')),
        ]),
      },
    ],
    notes: [
      'Wanted: at least 0.90 of those with the fewest.',
      `Filled and loaded within ${all.map(({ name, loadSeconds }) => `${number(loadSeconds, 1)} s (${name})`).join(', ')}.`,
    ],
    figures: {
      links: sizes.at(-1)?.links ?? 0,
      links_ratio: median(ratios(of(largest.name, 'perSecond'), of(fewest.name, 'perSecond'))),
      links_resident_mib: Math.max(...of(largest.name, 'residentMiB')),
    },
  });
});
