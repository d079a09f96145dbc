import { createAddressSealer } from '../core/events/address-seal.ts';
import { uuidv7 } from '../core/ids.ts';
import { fillJournal } from './data/journal.ts';
import { benchmark, progress } from './harness/bench.ts';
import { packageVersion, programVersion } from './harness/machine.ts';
import { readOptions } from './harness/options.ts';
import { requireTwoCores } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { runToEnd } from './harness/tier.ts';
import { BROKER_VERSION, startBroker } from './servers/broker.ts';
import type { Shipped, WAYS } from './shipper/contestant.ts';

/**
 * Measures the clicks per second and CPU of the shipper from the journal to a broker, compression included, compared
 * with other ways to send the same clicks.
 *
 *   node bench/shipper.ts [--clicks 2000000] [--rounds 5]
 *
 * The shipping process has core 0, the broker core 1. Every way waits for the acknowledgement (`acks=all`) before the
 * next send. Each round has its own process and topic, and excludes the first record.
 */

const options = readOptions({ clicks: 2_000_000 });
const OURS = 'hoplog';
/** Share of the clicks for one record per click, which is far slower. */
const PART = 8;

const CONTESTANTS: { name: string; way: keyof typeof WAYS; part: number }[] = [
  { name: OURS, way: 'hoplog', part: 1 },
  { name: 'kafkajs, a record per click, gzip', way: 'record-per-click', part: PART },
  { name: '@platformatic/kafka, our records, gzip', way: 'platformatic-gzip', part: 1 },
  { name: '@platformatic/kafka, our records, zstd', way: 'platformatic-zstd', part: 1 },
];

type Turn = { perSecond: number; cpuPerMillion: number; brokerCpuPerMillion: number; bytesPerClick: number };

await benchmark(async (bench) => {
  requireTwoCores();
  progress(`writing ${number(options.clicks)} clicks to a journal`);
  const journal = await fillJournal({
    dataDir: bench.directory,
    clicks: options.clicks,
    sealer: createAddressSealer(Buffer.alloc(32, 7)),
    register: async () => ({ streamId: uuidv7(), ordinal: 0 }),
  });
  const broker = await startBroker(bench, '1');
  let topics = 0;

  async function turn(way: keyof typeof WAYS, events: number): Promise<Turn> {
    const topic = `bench-${topics++}`;
    if (way !== 'hoplog') await broker.makeTopic(topic);
    const before = broker.cpu();
    const shipped = await runToEnd<Shipped>(bench, {
      script: 'bench/shipper/contestant.ts',
      cores: '0',
      args: [
        ...['--way', way, '--data-dir', journal.dataDir, '--stream', journal.streamName],
        ...['--brokers', broker.brokers, '--topic', topic, '--events', String(events)],
      ],
    });
    const millions = shipped.events / 1e6;
    return {
      perSecond: shipped.events / shipped.seconds,
      cpuPerMillion: shipped.cpu / millions,
      brokerCpuPerMillion: (broker.cpu() - before) / (events / 1e6),
      bytesPerClick: (await broker.bytesOf(topic, 1)) / events,
    };
  }

  const contestants: Contestant<Turn>[] = CONTESTANTS.map(({ name, way, part }) => ({
    name,
    measure: () => turn(way, Math.floor(journal.events / part)),
  }));
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Turn) => ofContestant(measured, name).map((one) => one[key]);
  report(options.results, {
    name: 'shipper',
    title: `${number(options.clicks)} clicks (${number(journal.bytesPerClick)} bytes each) from the journal to a broker`,
    versions: [
      packageVersion('kafkajs'),
      packageVersion('@platformatic/kafka'),
      BROKER_VERSION,
      programVersion('java', ['-version']),
    ],
    tables: [
      {
        header: ['', 'clicks/s', 'CPU s a million', "broker's CPU s a million", 'bytes a click in Kafka'],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          spread(of(name, 'cpuPerMillion'), 2),
          spread(of(name, 'brokerCpuPerMillion'), 2),
          spread(of(name, 'bytesPerClick'), 1),
        ]),
      },
    ],
    notes: ['Wanted of hoplog: at most 1.00 CPU seconds a million clicks, compression included.'],
    figures: {
      shipper_clicks_per_second: median(of(OURS, 'perSecond')),
      shipper_cpu_per_million: median(of(OURS, 'cpuPerMillion')),
      kafka_bytes_per_click: median(of(OURS, 'bytesPerClick')),
    },
  });
});
