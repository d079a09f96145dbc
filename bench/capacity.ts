import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figuresIn, planOf } from './capacity/plan.ts';
import { readOptions } from './harness/options.ts';
import { number, report } from './harness/report.ts';

/**
 * Computes the cores, disk, and network for a load from the medians in `bench/results`. It measures nothing.
 *
 *   node bench/capacity.ts [--clicks 1000000000] [--peak 3] [--use 0.6] [--replicas 3] [--kafka-days 7]
 *     [--store-cores 16] [--store-disk 4]
 *
 * `--clicks`: per day; `--peak`: ratio of the busiest minute to the mean; `--use`: usable share of a core at the peak;
 * `--store-disk`: in TB.
 */

const options = readOptions({
  clicks: 1_000_000_000,
  peak: 3,
  use: 0.6,
  replicas: 3,
  'kafka-days': 7,
  'store-cores': 16,
  'store-disk': 4,
});
const folder = options.results || fileURLToPath(new URL('./results', import.meta.url));
const measured = readdirSync(folder)
  .filter((file) => file.endsWith('.txt') && file !== 'capacity.txt')
  .map((file) => readFileSync(join(folder, file), 'utf8'));
const figures = figuresIn(measured);
const plan = planOf(figures, {
  clicksPerDay: options.clicks,
  peak: options.peak,
  use: options.use,
  replicas: options.replicas,
  kafkaDays: options['kafka-days'],
  storeCores: options['store-cores'],
  storeDiskBytes: options['store-disk'] * 1e12,
});
const use = `${number(options.use * 100)} %`;

report(options.results, {
  name: 'capacity',
  title: `What ${number(options.clicks)} clicks a day take, by the figures of the other results`,
  versions: [],
  tables: [
    {
      title: `What one carries, at ${use} of its CPU`,
      header: ['one', 'clicks/s', 'clicks a day at that rate'],
      rows: [
        ['redirect core', plan.redirectCore],
        ['worker core', plan.workerCore],
        [`ClickHouse node, ${options['store-cores']} cores, half of them for inserts`, plan.storeNode],
      ].map(([one, rate]) => [String(one), number(Number(rate)), number(Number(rate) * 86_400)]),
    },
    {
      title: `${number(options.clicks)} clicks a day: ${number(plan.meanPerSecond)} a second, ${number(plan.peakPerSecond)} at the peak`,
      header: ['part', 'takes'],
      rows: [
        [
          'ingest',
          `${plan.redirectCores} cores for redirects, and ${number(plan.shipperCores, 2)} for shipping`,
        ],
        ['workers', `${plan.workerCores} cores`],
        [
          'ClickHouse, each replica',
          `${number(plan.storeInsertCores, 2)} cores for inserts; questions on top`,
        ],
        [
          'ClickHouse disk, each replica',
          `${gigabytes(plan.storeBytesPerDay)} a day; ${options['store-disk']} TB hold ${number(plan.storeDaysOnDisk)} days`,
        ],
        ['Kafka, in', `${number(plan.kafkaBytesPerSecond / 1e6, 1)} MB/s at the peak, before replication`],
        [
          'Kafka disk',
          `${gigabytes(plan.kafkaBytes)} for ${options['kafka-days']} days in ${options.replicas} replicas`,
        ],
      ],
    },
  ],
  notes: [
    `Cores are those of the machine above, used to ${use} at a peak of ${options.peak} times the mean; disks to 70 %.`,
    'At least two of each process, however little they have to do: one of them may die.',
  ],
});

function gigabytes(bytes: number): string {
  return `${number(bytes / 1e9)} GB`;
}
