import { benchmark, progress } from './harness/bench.ts';
import { packageVersion } from './harness/machine.ts';
import { readOptions } from './harness/options.ts';
import { leaveCore0 } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { makeDatabase, startPostgres } from './harness/stores.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { drive, quickestGenerator } from './load/generator.ts';
import type { LoadResult } from './load/plan.ts';
import { requireJournaled, startRedirectTier } from './servers/ingest.ts';
import { nginxVersion, startNginx } from './servers/nginx.ts';

/**
 * Measures redirect latency at half of the capacity of the ingest process, beside nginx at the same rate. Latency
 * counts from the due time of a request (no coordinated omission).
 *
 *   node bench/redirect-latency.ts [--rounds 5] [--seconds 10] [--rate 0] [--connections 64] [--links 1000]
 *     [--sync 5ms]
 *
 * Visitors come through a proxy that sends their addresses. `--rate 0`: half of the capacity measured in three short
 * runs. The measured process has core 0, the generator core 1. `sent late`: delay of the generator after the due time,
 * or after the first connection was free again. `generator paused`: time in which other processes used its core.
 */

const options = readOptions({ seconds: 10, rate: 0, connections: 64, links: 1_000, sync: '5ms' });
const OURS = 'hoplog, journaled';
const NGINX = 'nginx, access_log';
const WARM_UP_SECONDS = 2;
const SHORT_RUNS = 3;
const SHORT_SECONDS = 3;

await benchmark(async (bench) => {
  leaveCore0();
  const postgres = await startPostgres(bench);
  const database = await makeDatabase(bench, postgres.url, 'latency');
  const { links, sync, connections, seconds } = options;
  const env = { TRUST_PROXY: '127.0.0.1' };
  const tier = await startRedirectTier(bench, database, { name: 'latency', links, cores: '0', sync, env });
  const nginx = await startNginx(bench, 'each', '0');
  const clicks = clicksOnLinks(links, true);
  const shared = { connections, ...clicks };
  let answered = 0;

  async function highestRate(): Promise<number> {
    const generator = quickestGenerator(bench);
    const rates: number[] = [];
    for (let run = 0; run < SHORT_RUNS; run++) {
      const short = { ...shared, port: tier.port, rate: null, warmUpSeconds: 0, seconds: SHORT_SECONDS };
      const { perSecond, total } = await generator.drive(short, '1');
      answered += total;
      rates.push(perSecond);
    }
    return median(rates);
  }

  const rate = Math.floor(options.rate || (await highestRate()) / 2);
  progress(`${number(rate)} requests a second`);

  async function turn(server: { port: number }): Promise<LoadResult> {
    const plan = { ...shared, port: server.port, rate, warmUpSeconds: WARM_UP_SECONDS, seconds };
    const result = await drive(bench, plan, '1');
    if (result.failed > 0) throw new Error(`${result.failed} of ${result.total} requests failed`);
    if (server === tier) {
      answered += result.total;
      await requireJournaled(tier, answered);
    } else {
      nginx.emptyLog();
    }
    return result;
  }

  const contestants: Contestant<LoadResult>[] = [
    { name: OURS, measure: () => turn(tier) },
    { name: NGINX, measure: () => turn(nginx) },
  ];
  for (const { measure } of contestants) await measure(-1); // Warm-up of caches and compilers.
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof LoadResult) => ofContestant(measured, name).map((one) => one[key]);
  const against = (key: keyof LoadResult) => ratios(of(OURS, key), of(NGINX, key));
  report(options.results, {
    name: 'redirect-latency',
    title: `Latency of redirects at ${number(rate)} a second, ${connections} keep-alive connections, JOURNAL_SYNC=${sync}`,
    versions: [packageVersion('uWebSockets.js'), nginxVersion()],
    tables: [
      {
        header: [
          'server',
          'answered/s',
          'p50 ms',
          'p99 ms',
          'p99.9 ms',
          'longest ms',
          'sent late, p99 ms',
          'generator paused, %',
        ],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          ...(['p50', 'p99', 'p999', 'max', 'lateness'] as const).map((key) => spread(of(name, key), 2)),
          spread(
            of(name, 'paused').map((share) => share * 100),
            2,
          ),
        ]),
      },
      {
        header: ['hoplog / nginx, round by round', 'ratio', 'wanted'],
        rows: [
          ['p50', spread(against('p50'), 2), ''],
          ['p99', spread(against('p99'), 2), 'at most 1.50'],
          ['p99.9', spread(against('p999'), 2), ''],
        ],
      },
    ],
    figures: {
      latency_rate: rate,
      latency_p99_ms: median(of(OURS, 'p99')),
      latency_p99_over_nginx: median(against('p99')),
    },
  });
});
