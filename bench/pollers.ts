import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, ofContestant } from './harness/rounds.ts';
import { quantile } from './harness/statistics.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { drive } from './load/generator.ts';
import type { PollersPlan, PollersResult } from './pollers/pollers.ts';
import { readVisitors } from './service/poll.ts';
import { type BenchService, startBenchService } from './service/start.ts';

/**
 * Measures the latency of `GET /clicks` for 200 pollers with `link_ids` and `since` during 5,000 clicks per second, and
 * checks that each gets every click of its links.
 *
 *   node bench/pollers.ts [--rounds 5] [--seconds 15] [--rate 5000] [--pollers 200] [--every 1000] [--links 5]
 *
 * Each poller has `--links` links and polls every `--every` milliseconds; all clicks go to those links. The load, the
 * pollers, and the service share the machine.
 */

const options = readOptions({ seconds: 15, rate: 5_000, pollers: 200, every: 1_000, links: 5 });
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;

type Turn = {
  p50: number;
  p99: number;
  p999: number;
  pollP99: number;
  polls: number;
  clicks: number;
  missed: number;
};

await benchmark(async (bench) => {
  const { pollers, links, rate, every } = options;
  const service = await startBenchService(bench, {
    dataDir: join(bench.directory, 'data'),
    links: pollers * links,
  });
  const measured = await alternate(options.rounds, [
    { name: 'hoplog', measure: (round) => turn(bench, service, round) },
  ]);
  const of = (key: keyof Turn) => ofContestant(measured, 'hoplog').map((one) => one[key]);
  const missed = of('missed').reduce((a, b) => a + b, 0);
  report(options.results, {
    name: 'pollers',
    title: `${pollers} pollers of ${links} links each, every ${number(every)} ms, at ${number(rate)} clicks/s`,
    versions: [],
    tables: [
      {
        header: [
          'polls a round',
          'request p50 ms',
          'p99 ms',
          'p99.9 ms',
          'poll since due, all pages, p99 ms',
        ],
        rows: [
          [
            spread(of('polls')),
            ...(['p50', 'p99', 'p999', 'pollP99'] as const).map((key) => spread(of(key), 1)),
          ],
        ],
      },
    ],
    notes: [
      `Clicks answered in all: ${number(of('clicks').reduce((a, b) => a + b, 0))}; missed by their poller: ${number(missed)}.`,
      'Wanted: p99 at most 100 ms, none missed.',
    ],
    figures: { pollers_p99_ms: median(of('p99')), pollers_missed: missed },
  });
  if (missed > 0) process.exitCode = 1;
});

async function turn(bench: Bench, service: BenchService, round: number): Promise<Turn> {
  const visitorsFile = join(bench.directory, `visitors-${round}`);
  const polling = await startPollers(bench, service, join(bench.directory, `pollers-${round}`));
  const { failed } = await drive(bench, {
    port: service.ingestPort,
    connections: CONNECTIONS,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: options.seconds,
    rate: options.rate,
    sharesCore: true,
    hot: service.slugs,
    cold: [],
    coldShare: 0,
    heads: clicksOnLinks(1, true).heads,
    visitorsFile,
  });
  const { result, seen } = await polling.end(Date.now());
  if (failed > 0) throw new Error(`${failed} redirects failed`);
  if (result.failed > 0) throw new Error(`${result.failed} polls failed`);
  const answered = readVisitors(readFileSync(visitorsFile, 'utf8'));
  let missed = 0;
  for (const visitor of answered.keys()) if (!seen.has(visitor)) missed += 1;
  const requests = result.requests.sort((a, b) => a - b);
  return {
    p50: quantile(requests, 0.5),
    p99: quantile(requests, 0.99),
    p999: quantile(requests, 0.999),
    pollP99: quantile(
      result.polls.sort((a, b) => a - b),
      0.99,
    ),
    polls: result.polls.length,
    clicks: answered.size,
    missed,
  };
}

async function startPollers(bench: Bench, service: BenchService, file: string) {
  const { apiUrl, key, linkIds } = service;
  const links = Array.from({ length: options.pollers }, (_, n) =>
    linkIds.slice(n * options.links, (n + 1) * options.links),
  );
  const plan: PollersPlan = { apiUrl, key, links, everyMs: options.every, seenFile: `${file}.seen` };
  writeFileSync(file, JSON.stringify(plan));
  const script = join(import.meta.dirname, 'pollers', 'pollers.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, file], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  bench.defer(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return {
    /** @param clicksEnd milliseconds since the epoch; pollers must get every earlier click */
    async end(clicksEnd: number) {
      const exited = once(child, 'exit');
      child.stdin.write(`${clicksEnd}\n`);
      const [status] = await exited;
      if (status !== 0) throw new Error(`the pollers ended with ${status}`);
      return {
        result: JSON.parse(readFileSync(`${plan.seenFile}.json`, 'utf8')) as PollersResult,
        seen: new Set(readFileSync(plan.seenFile, 'utf8').split('\n')),
      };
    },
  };
}
