import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, benchmark } from './harness/bench.ts';
import { machineNow } from './harness/clock.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, ofContestant } from './harness/rounds.ts';
import { quantile } from './harness/statistics.ts';
import { clicksOnLinks } from './load/clicks-on-links.ts';
import { drive } from './load/generator.ts';
import { BROKER_VERSION, startBroker } from './servers/broker.ts';
import { type PollClient, pollClient, pollOnce, readVisitors } from './service/poll.ts';
import { type BenchService, startBenchService } from './service/start.ts';
import { startWithKafka } from './service/with-kafka.ts';

/**
 * Measures the time from the redirect of a click until it is in `GET /clicks`, polled with `link_ids` and the previous
 * `watermark` as `since`. The service runs as with `npm start`, in its own directory.
 *
 *   node bench/freshness.ts [--rounds 5] [--seconds 15] [--rate 5000] [--links 100] [--kafka false]
 *
 * A click is visible when its page has arrived, so the duration of a poll and the delay between polls (20 ms) count.
 * The run fails if any click is not visible within 60 s. `--kafka true` adds a broker between journal and workers.
 */

const options = readOptions({ seconds: 15, rate: 5_000, links: 100, kafka: 'false' });
const WITH_KAFKA = options.kafka === 'true';
const PAUSE_MS = 20;
const WARM_UP_SECONDS = 2;
const PATIENCE_MS = 60_000;
const CONNECTIONS = 32;

type Turn = { clicks: number; p50: number; p90: number; p99: number; max: number };

await benchmark(async (bench) => {
  if (options.links > 500) throw new Error('`--links` must be at most 500, the limit of a poll');
  const { links } = options;
  const service = WITH_KAFKA
    ? await startWithKafka(bench, await startBroker(bench), links)
    : await startBenchService(bench, { dataDir: join(bench.directory, 'data'), links });
  const client = pollClient(service.apiUrl, service.key);
  bench.defer(() => client.close());
  const measured = await alternate(options.rounds, [
    { name: 'hoplog', measure: (round) => turn(bench, service, client, round) },
  ]);
  const of = (key: keyof Turn) => ofContestant(measured, 'hoplog').map((one) => one[key]);
  report(options.results, {
    name: WITH_KAFKA ? 'freshness-kafka' : 'freshness',
    title: `From a click's answer to its place in GET /clicks, at ${number(options.rate)} clicks/s, ${WITH_KAFKA ? 'with Kafka' : 'embedded'}`,
    versions: WITH_KAFKA ? [BROKER_VERSION] : [],
    tables: [
      {
        header: ['clicks a round', 'p50 ms', 'p90 ms', 'p99 ms', 'longest ms'],
        rows: [
          [spread(of('clicks')), ...(['p50', 'p90', 'p99', 'max'] as const).map((key) => spread(of(key)))],
        ],
      },
    ],
    notes: ['Wanted: p50 at most 300 ms, p99 at most 1,000 ms at 5,000 clicks/s. No click was missed.'],
    figures: WITH_KAFKA
      ? { freshness_kafka_p50_ms: median(of('p50')), freshness_kafka_p99_ms: median(of('p99')) }
      : { freshness_p50_ms: median(of('p50')), freshness_p99_ms: median(of('p99')) },
  });
});

async function turn(bench: Bench, service: BenchService, client: PollClient, round: number): Promise<Turn> {
  const visitorsFile = join(bench.directory, `visitors-${round}`);
  const { heads } = clicksOnLinks(1, true);
  const began = machineNow();
  let load: 'on' | 'over' = 'on';
  const driving = drive(bench, {
    port: service.ingestPort,
    connections: CONNECTIONS,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: options.seconds,
    rate: options.rate,
    sharesCore: true,
    hot: service.slugs,
    cold: [],
    coldShare: 0,
    heads,
    visitorsFile,
  }).finally(() => {
    load = 'over';
  });
  const seenAt = new Map<string, number>();
  let since = new Date().toISOString();
  const pollAgain = async () => {
    since = await pollOnce(client, service.linkIds, since, ({ clicks }) => {
      const now = machineNow();
      for (const { visitor_id } of clicks) if (!seenAt.has(visitor_id)) seenAt.set(visitor_id, now);
    });
    await delay(PAUSE_MS);
  };
  const isOn = () => load === 'on';
  while (isOn()) await pollAgain();
  const { failed } = await driving;
  if (failed > 0) throw new Error(`${failed} redirects failed`);
  const answered = readVisitors(readFileSync(visitorsFile, 'utf8'));
  const end = machineNow() + PATIENCE_MS;
  while ([...answered.keys()].some((visitor) => !seenAt.has(visitor))) {
    if (machineNow() > end) throw new Error(`not all of ${answered.size} clicks became visible`);
    await pollAgain();
  }
  const warm = began + WARM_UP_SECONDS * 1_000;
  const waits: number[] = [];
  // A poll may return the click before the generator receives the redirect.
  for (const [visitor, at] of answered)
    if (at > warm) waits.push(Math.max(0, (seenAt.get(visitor) ?? 0) - at));
  waits.sort((a, b) => a - b);
  const at = (share: number) => quantile(waits, share);
  return { clicks: waits.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
