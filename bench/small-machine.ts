import { join } from 'node:path';
import { makeMemoryGroup } from '../test/support/control-group.ts';
import { follow, makeLink, untilClicks } from '../test/support/first-click.ts';
import { type Bench, benchmark, progress } from './harness/bench.ts';
import { bytesByFolder } from './harness/folders.ts';
import { readOptions } from './harness/options.ts';
import { number, report } from './harness/report.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { drive } from './load/generator.ts';
import { untilVisible } from './service/lag.ts';
import { type BenchService, startBenchService } from './service/start.ts';
import { fillYear } from './small-machine/history.ts';
import { ask, exportYear, REPORTS } from './small-machine/reports.ts';

/**
 * Measures the load that `npm start` can handle on a machine with little memory: a control group with that limit and
 * without swap. The load is README's first click, redirects, a CSV export of a year, and every report, one after
 * another and all at once.
 *
 *   node bench/small-machine.ts [--mib 1024,2048] [--clicks 1000000] [--rate 5000] [--history 5000000]
 *
 * `--clicks` are redirects. `--history` are the clicks of a year in the workspace that is exported and reported. Needs
 * root on Linux. Exits with 1 when the kernel ends a process, a part restarts, or a request fails.
 */

const options = readOptions({ mib: '1024,2048', clicks: 1_000_000, rate: 5_000, history: 5_000_000 });
const MIB = 2 ** 20;
const LINKS = 1_000;
const CONNECTIONS = 32;
const GROWING = ['journal', 'postgres', 'clickhouse'];
const SAMPLE_MS = 500;
/** Length of a part of the load, of which the worst p99 is reported. */
const STRETCH_SECONDS = 20;

type Carried = {
  readySeconds: number;
  idleMiB: number;
  redirects: number;
  failed: number;
  p99: number;
  visibleSeconds: number;
  /** Bytes that the redirects added to each folder of the data directory. */
  grown: Map<string, number>;
  exported: number;
  exportedPerSecond: number;
  slowest: { name: string; milliseconds: number };
  togetherSeconds: number;
  peakMiB: number;
  kills: number;
  restarts: number;
  problems: string[];
};

await benchmark(async (bench) => {
  const sizes = options.mib.split(',').map(Number);
  const carried: Carried[] = [];
  for (const mib of sizes) carried.push(await carry(bench, mib));
  const row = (title: string, of: (one: Carried) => string) => [title, ...carried.map(of)];
  report(options.results, {
    name: 'small-machine',
    title: 'What does `npm start` carry on a machine with little memory?',
    versions: [],
    tables: [
      {
        header: ['What', ...sizes.map((mib) => `${number(mib / 1024, 1)} GiB`)],
        rows: [
          row('ready after, s', ({ readySeconds }) => number(readySeconds, 1)),
          row('memory after the first click, MiB', ({ idleMiB }) => number(idleMiB)),
          row(`redirects, ${number(options.rate)} a second`, ({ redirects }) => number(redirects)),
          row('... failed', ({ failed }) => number(failed)),
          row('... p99 of the worst 20 s, ms', ({ p99 }) => number(p99, 1)),
          row('... all visible after, s', ({ visibleSeconds }) => number(visibleSeconds, 1)),
          ...GROWING.map((folder) =>
            row(`... grown on disk, ${folder}, MiB`, ({ grown }) => number((grown.get(folder) ?? 0) / MIB)),
          ),
          row('CSV export of a year, rows', ({ exported }) => number(exported)),
          row('... rows a second', ({ exportedPerSecond }) => number(exportedPerSecond)),
          row(
            'slowest report of a year, ms',
            ({ slowest }) => `${number(slowest.milliseconds)} (${slowest.name})`,
          ),
          row('export and all reports at once, s', ({ togetherSeconds }) => number(togetherSeconds, 1)),
          row('most memory, without file pages, MiB', ({ peakMiB }) => number(peakMiB)),
          row('processes that the kernel ended', ({ kills }) => number(kills)),
          row('restarts', ({ restarts }) => number(restarts)),
        ],
      },
    ],
    notes: carried.flatMap(({ problems }, index) =>
      problems.map((problem) => `${sizes[index]} MiB: ${problem}`),
    ),
    figures: Object.fromEntries(
      carried.map(({ peakMiB }, index) => [`small_machine_${sizes[index]}_peak_mib`, peakMiB]),
    ),
  });
  if (carried.some(({ problems, kills, restarts }) => kills + restarts + problems.length > 0))
    process.exitCode = 1;
});

async function carry(bench: Bench, mib: number): Promise<Carried> {
  const group = makeMemoryGroup(mib * MIB);
  bench.defer(() => group.remove());
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, group.anonymousBytes());
  }, SAMPLE_MS);
  bench.defer(() => clearInterval(sampling));
  progress(`${mib} MiB: starting`);
  const began = performance.now();
  const dataDir = join(bench.directory, String(mib));
  const service = await startBenchService(bench, {
    dataDir,
    links: LINKS,
    as: group.as,
  });
  const readySeconds = (performance.now() - began) / 1_000;
  await firstClick(service);
  const idleMiB = group.anonymousBytes() / MIB;
  progress(`${number(options.clicks)} redirects`);
  const folders = bytesByFolder(dataDir);
  const load = await redirect(bench, service);
  const ended = performance.now();
  await untilVisible(service.pool, Date.now());
  const visibleSeconds = (performance.now() - ended) / 1_000;
  const grown = new Map(
    [...bytesByFolder(dataDir)].map(([name, bytes]) => [name, bytes - (folders.get(name) ?? 0)]),
  );
  progress(`a year of ${number(options.history)} clicks`);
  const year = await fillYear(service, options.history);
  progress('export and reports');
  const problems: string[] = [];
  const attempt = async <T>(name: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
      return null;
    }
  };
  const exportAll = async () => {
    const got = await attempt('export', () => exportYear(service.apiUrl, year.key));
    if (got && got.rows !== year.clicks) problems.push(`the export has ${got.rows} of ${year.clicks} clicks`);
    return got;
  };
  const askAll = (one: (typeof REPORTS)[number]) =>
    attempt(one.name, () => ask(service.apiUrl, year.key, one));
  const exported = await exportAll();
  let slowest = { name: '', milliseconds: 0 };
  for (const one of REPORTS) {
    const milliseconds = (await askAll(one)) ?? 0;
    progress(`${one.name}: ${number(milliseconds)} ms`);
    if (milliseconds > slowest.milliseconds) slowest = { name: one.name, milliseconds };
  }
  progress('all at once');
  const together = performance.now();
  await Promise.all([exportAll(), ...REPORTS.map(askAll)]);
  const togetherSeconds = (performance.now() - together) / 1_000;
  const kills = group.kills();
  const restarts = service.log().split('will restart').length - 1;
  if (kills + restarts > 0) process.stderr.write(service.log());
  await service.stop();
  clearInterval(sampling);
  return {
    readySeconds,
    idleMiB,
    redirects: load.total,
    failed: load.failed,
    p99: load.p99,
    visibleSeconds,
    grown,
    exported: exported?.rows ?? 0,
    exportedPerSecond: exported ? (exported.rows / exported.milliseconds) * 1_000 : 0,
    slowest,
    togetherSeconds,
    peakMiB: peak / MIB,
    kills,
    restarts,
    problems,
  };
}

/** Follows links the given number of times. A machine that is too slow for the rate takes longer. */
async function redirect(
  bench: Bench,
  service: BenchService,
): Promise<{ total: number; failed: number; p99: number }> {
  const sum = { total: 0, failed: 0, p99: 0 };
  while (sum.total < options.clicks) {
    const { total, failed, p99 } = await drive(bench, {
      port: service.ingestPort,
      connections: CONNECTIONS,
      warmUpSeconds: 0,
      seconds: Math.min(STRETCH_SECONDS, Math.ceil((options.clicks - sum.total) / options.rate)),
      rate: options.rate,
      sharesCore: true,
      hot: service.slugs,
      cold: [],
      coldShare: 0,
      heads: clicksOnLinks(1, true).heads,
    });
    sum.total += total;
    sum.failed += failed;
    sum.p99 = Math.max(sum.p99, p99);
  }
  return sum;
}

/** README's first five minutes: a link, a click, and the reads of it. */
async function firstClick({ apiUrl, ingestPort, key }: BenchService): Promise<void> {
  const ready = { api_url: apiUrl, short_url: `http://127.0.0.1:${ingestPort}` };
  const link = await makeLink(ready, key, 'autumn');
  if ((await follow(link)).status !== 302) throw new Error('the first click was not redirected');
  await untilClicks(ready, key, link, 1);
  for (const path of ['/links', '/channels']) await ask(apiUrl, key, { name: path, path });
}
