import { join } from 'node:path';
import { createClickHouse } from '../clickhouse/client.ts';
import { runQuery } from '../clickhouse/queries/run-query.ts';
import { type Bench, benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { cpuByPart, used } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { BROKER_VERSION, type Broker, startBroker } from './servers/broker.ts';
import { type BenchService, startBenchService } from './service/start.ts';
import { visitAtRate } from './service/visit.ts';
import { startWithKafka } from './service/with-kafka.ts';

/**
 * Measures the cost of a click from redirect to `/clicks`: CPU seconds of each part, and bytes in Kafka and ClickHouse.
 * Alternates between single-node mode and the same with a Kafka broker.
 *
 *   node bench/cost.ts [--rounds 5] [--seconds 20] [--rate 5000] [--links 1000] [--kafka true]
 *
 * Visitors have real user agents and worldwide addresses. At a low rate, heartbeats and polls are a larger part of the
 * cost. Use `--kafka false` without a broker.
 */

const options = readOptions({ seconds: 20, rate: 5_000, links: 1_000, kafka: 'true' });
const EMBEDDED = 'embedded: journal';
const KAFKA = 'with Kafka';

type Turn = { clicks: number; cpu: Map<string, number> };

await benchmark(async (bench) => {
  const { links } = options;
  const embedded = await startBenchService(bench, { dataDir: join(bench.directory, 'embedded'), links });
  const broker = options.kafka === 'true' ? await startBroker(bench) : null;
  const spooled = broker && (await startWithKafka(bench, broker, links));
  const contestants: Contestant<Turn>[] = [
    { name: EMBEDDED, measure: () => turn(bench, embedded, null) },
    ...(spooled ? [{ name: KAFKA, measure: () => turn(bench, spooled, broker) }] : []),
  ];
  const measured = await alternate(options.rounds, contestants);
  const perMillion = (name: string, part: string) =>
    ofContestant(measured, name).map(({ clicks, cpu }) => ((cpu.get(part) ?? 0) * 1e6) / clicks);
  const total = (name: string) =>
    ofContestant(measured, name).map(
      ({ clicks, cpu }) => ([...cpu.values()].reduce((a, b) => a + b, 0) * 1e6) / clicks,
    );
  const parts = [
    ...new Set(contestants.flatMap(({ name }) => [...(ofContestant(measured, name)[0]?.cpu.keys() ?? [])])),
  ];
  const stored = await storedBytes(embedded);
  const kafkaClicks = spooled
    ? ofContestant(measured, KAFKA).reduce((sum, { clicks }) => sum + clicks, 0)
    : 0;
  const kafkaBytes = spooled ? (await spooled.topicBytes()) / kafkaClicks : 0;
  report(options.results, {
    name: 'cost',
    title: `What a million clicks cost, at ${number(options.rate)} clicks/s`,
    versions: broker ? [BROKER_VERSION] : [],
    tables: [
      {
        title: 'CPU seconds a million clicks',
        header: ['part', ...contestants.map(({ name }) => name)],
        rows: [
          ...parts.map((part) => [part, ...contestants.map(({ name }) => spread(perMillion(name, part), 1))]),
          ['all', ...contestants.map(({ name }) => spread(total(name), 1))],
        ],
      },
      {
        title: 'Bytes a click',
        header: ['where', 'bytes', 'wanted'],
        rows: [
          ['ClickHouse, as inserted', number(stored.before, 1), ''],
          ['ClickHouse, merged', number(stored.after, 1), 'at most 60'],
          ...(broker ? [['Kafka, one replica', number(kafkaBytes, 1), '']] : []),
        ],
      },
    ],
    notes: [`ClickHouse holds ${number(stored.rows)} clicks of the embedded service.`],
    figures: {
      cpu_per_million_embedded: median(total(EMBEDDED)),
      ...(spooled
        ? { cpu_per_million_kafka: median(total(KAFKA)), cost_kafka_bytes_per_click: kafkaBytes }
        : {}),
      clickhouse_bytes_per_click: stored.after,
    },
  });
});

async function turn(bench: Bench, service: BenchService, broker: Broker | null): Promise<Turn> {
  const brokerBefore = broker?.cpu() ?? 0;
  const before = cpuByPart(service.pid);
  const clicks = await visitAtRate(bench, service, { seconds: options.seconds, rate: options.rate });
  const cpu = used(before, cpuByPart(service.pid));
  if (broker) cpu.set('Kafka broker', broker.cpu() - brokerBefore);
  return { clicks, cpu };
}

/** Returns the bytes of a click with indexes, before and after a merge into one part. */
async function storedBytes(service: BenchService): Promise<{ rows: number; before: number; after: number }> {
  const client = createClickHouse({ url: service.clickhouseUrl, database: 'hoplog', timeoutMs: 600_000 });
  const size = async () => {
    const [row] = await runQuery<{ stored: string; bytes: number }>(client, {
      sql: `SELECT sum(rows) AS stored, sum(bytes_on_disk) / stored AS bytes FROM system.parts
            WHERE database = currentDatabase() AND table = 'clicks' AND active`,
      params: {},
      seconds: 60,
    });
    return { rows: Number(row?.stored ?? 0), bytes: row?.bytes ?? 0 };
  };
  try {
    const before = await size();
    await client.command({ query: 'OPTIMIZE TABLE clicks FINAL' });
    const after = await size();
    return { rows: after.rows, before: before.bytes, after: after.bytes };
  } finally {
    await client.close();
  }
}
