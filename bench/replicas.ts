import { join } from 'node:path';
import type { EmbeddedStore } from '../cli/embedded/store.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { hoplog } from '../test/support/hoplog.ts';
import { until } from '../test/support/until.ts';
import { type Bench, benchmark, progress } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { cpuByPart, cpuSeconds, used } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { startClickHouse } from './harness/stores.ts';
import { type BenchService, startBenchService } from './service/start.ts';
import { visitAtRate } from './service/visit.ts';

/**
 * Measures the CPU of a click, from redirect to `/clicks`, with two replicas of ClickHouse beside one. Alternates
 * between two services, each with ClickHouse servers of its own. Afterwards both replicas must have the same clicks.
 *
 *   node bench/replicas.ts [--rounds 5] [--seconds 20] [--rate 5000] [--links 1000]
 */

const options = readOptions({ seconds: 20, rate: 5_000, links: 1_000 });
const ONE = 'one ClickHouse';
const TWO = 'two replicas';
const WANTED = 1.45;
const PATIENT = { timeoutMs: 120_000, intervalMs: 500 };

type Deployment = { service: BenchService; servers: EmbeddedStore[] };
type Turn = { clicks: number; cpu: Map<string, number> };

await benchmark(async (bench) => {
  const one = await deploy(bench, 'one', 1);
  const two = await deploy(bench, 'two', 2);
  const contestants: Contestant<Turn>[] = [
    { name: ONE, measure: () => turn(bench, one) },
    { name: TWO, measure: () => turn(bench, two) },
  ];
  const measured = await alternate(options.rounds, contestants);
  const perMillion = (name: string, part: string) =>
    ofContestant(measured, name).map(({ clicks, cpu }) => ((cpu.get(part) ?? 0) * 1e6) / clicks);
  const total = (name: string) =>
    ofContestant(measured, name).map(
      ({ clicks, cpu }) => ([...cpu.values()].reduce((a, b) => a + b, 0) * 1e6) / clicks,
    );
  await requireSame(
    two,
    ofContestant(measured, TWO).reduce((sum, { clicks }) => sum + clicks, 0),
  );
  const parts = [...(ofContestant(measured, TWO)[0]?.cpu.keys() ?? [])];
  const ratio = ratios(total(TWO), total(ONE));
  report(options.results, {
    name: 'replicas',
    title: `What a million clicks cost with two replicas of ClickHouse, at ${number(options.rate)} clicks/s`,
    versions: [],
    tables: [
      {
        title: 'CPU seconds a million clicks',
        header: ['part', ONE, TWO],
        rows: [
          ...parts.map((part) => [part, ...[ONE, TWO].map((name) => spread(perMillion(name, part), 1))]),
          ['all', ...[ONE, TWO].map((name) => spread(total(name), 1))],
        ],
      },
      {
        header: ['round by round', 'ratio', 'wanted'],
        rows: [['two replicas / one', spread(ratio, 2), `at most ${WANTED}`]],
      },
    ],
    notes: [],
    figures: { cpu_per_million_two_replicas: median(total(TWO)), two_replicas_of_one: median(ratio) },
  });
});

/** Starts a service with this number of ClickHouse servers, all of which are read. */
async function deploy(bench: Bench, name: string, count: 1 | 2): Promise<Deployment> {
  const dataDir = join(bench.directory, name);
  const servers: EmbeddedStore[] = [];
  for (let n = 0; n < count; n++)
    servers.push(await startClickHouse(bench, join(bench.directory, `${name}-clickhouse-${n}`)));
  const [main, second] = servers;
  const env = {
    CLICKHOUSE_URL: main?.url ?? '',
    ...(second && { CLICKHOUSE_REPLICAS: 'main,second', CLICKHOUSE_SECOND_URL: second.url }),
  };
  const service = await startBenchService(bench, { dataDir, links: options.links, env });
  const replica = (command: string) =>
    hoplog(['replica', command, 'second'], { DATA_DIR: dataDir, ...env }).then(({ status, stderr }) => {
      if (status !== 0) progress(stderr.trim());
      return status;
    });
  if (second) {
    for (const command of ['add', 'fill'])
      if ((await replica(command)) !== 0) throw new Error(`hoplog replica ${command} second failed`);
    await until(
      'the second replica is used',
      () => replica('use'),
      (status) => status === 0,
      PATIENT,
    );
  }
  return { service, servers };
}

async function turn(bench: Bench, { service, servers }: Deployment): Promise<Turn> {
  const cpuOf = () => {
    const cpu = cpuByPart(service.pid, ['ClickHouse']);
    for (const [n, { pid }] of servers.entries())
      cpu.set(n === 0 ? 'ClickHouse main' : 'ClickHouse second', cpuSeconds(pid));
    return cpu;
  };
  const before = cpuOf();
  const clicks = await visitAtRate(bench, service, { seconds: options.seconds, rate: options.rate });
  await untilNoneBehind(service);
  return { clicks, cpu: used(before, cpuOf()) };
}

async function untilNoneBehind({ pool }: BenchService): Promise<void> {
  const behind = async () => (await pool.query('SELECT FROM replica_lanes')).rowCount;
  await until('no replica is behind', behind, (count) => count === 0, PATIENT);
}

/** @throws Error when a replica has other clicks, or another number of them */
async function requireSame({ servers }: Deployment, clicks: number): Promise<void> {
  const found = await Promise.all(
    servers.map(async ({ url }) => {
      const client = createClickHouse({ url, database: 'hoplog', timeoutMs: 600_000 });
      try {
        const result = await client.query({
          query: 'SELECT count() AS rows, toString(sum(cityHash64(*))) AS hash FROM clicks',
          format: 'JSONEachRow',
        });
        return (await result.json<{ rows: string; hash: string }>())[0];
      } finally {
        await client.close();
      }
    }),
  );
  for (const one of found) {
    if (Number(one?.rows) !== clicks || one?.hash !== found[0]?.hash)
      throw new Error(`the replicas have ${JSON.stringify(found)}: must have the same ${clicks} clicks`);
  }
}
