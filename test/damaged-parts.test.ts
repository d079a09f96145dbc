import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import pino from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { createDamageWatch } from '../workers/jobs/watch-damage.ts';
import { createWorkerMetrics } from '../workers/metrics.ts';
import { readYaml } from './deploy/compose-file.ts';
import { follow, type Link, makeLink, untilClicks } from './support/first-click.ts';
import { CHECKOUT, EACH_SECOND, hoplog } from './support/hoplog.ts';
import { type Service, startService } from './support/service.ts';
import { until } from './support/until.ts';

/** Archive of the database, as the guide names it. */
const ARCHIVE = 'hoplog-2026-11-24-0300';

type Part = { name: string; path: string; partition_id: string; active: 0 | 1 };

/**
 * For all tests: a DATA_DIR that was started once, with three clicks in one part, and an archive of them. Each test
 * damages a copy.
 */
let clicked: { directory: string; key: string; link: Link; part: Part };
let directory: string;
let dataDir: string;
let service: Service | null;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-damaged-'));
  dataDir = join(directory, 'data');
  clicked = { directory, ...(await clickAndStop()) };
});
afterAll(async () => {
  await service?.stop();
  if (clicked) rmSync(clicked.directory, { recursive: true, force: true });
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-damaged-'));
  dataDir = join(directory, 'data');
  service = null;
});

afterEach(async () => {
  await service?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Copies the clicked DATA_DIR to the one of this test. */
function copyClicked(): { key: string; link: Link; part: Part } {
  const original = join(clicked.directory, 'data');
  shell(`cp -a '${original}' '${dataDir}'`);
  const { key, link, part } = clicked;
  return { key, link, part: { ...part, path: join(dataDir, relative(original, part.path)) } };
}

async function withClickHouse<T>(work: (client: ClickHouseClient) => Promise<T>): Promise<T> {
  const { clickhouseUrl } = JSON.parse(readFileSync(join(dataDir, 'run', 'supervisor.json'), 'utf8')) as {
    clickhouseUrl: string;
  };
  const client = createClickHouse({ url: clickhouseUrl, database: 'hoplog' });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Starts the service for the first time, has three clicks stored in one part, and stops it. */
async function clickAndStop(): Promise<{ key: string; link: Link; part: Part }> {
  service = await startService({ dataDir });
  const key = service.demo?.secret_key ?? '';
  const link = await makeLink(service, key, 'damaged');
  for (const _ of [1, 2, 3]) await follow(link);
  await untilClicks(service, key, link, 3);
  const parts = await withClickHouse(async (client) => {
    await client.command({ query: 'OPTIMIZE TABLE clicks FINAL' });
    await client.command({ query: `BACKUP DATABASE hoplog TO File('${ARCHIVE}')` });
    const sql =
      "SELECT name, path, partition_id, active FROM system.parts WHERE database = 'hoplog' AND table = 'clicks'";
    return client.queries.rows<Part>({ sql, params: {}, settings: {} });
  });
  const part = parts.find(({ active }) => active === 1);
  if (!part) throw new Error('the clicks are in no part');
  expect(await service.stop()).toBe(0);
  service = null;
  // ClickHouse would restore their rows from the merged parts, which it keeps for minutes.
  for (const { active, path } of parts) if (active === 0) rmSync(path, { recursive: true, force: true });
  return { key, link, part };
}

type State = { status: number | null; ok: boolean; detail: string };

/** Returns the exit status of `hoplog status`, and what it says about ClickHouse. */
async function state(): Promise<State> {
  const { status, stdout } = await hoplog(['status', '--json'], { DATA_DIR: dataDir });
  const { parts } = JSON.parse(stdout) as { parts: { clickhouse: { ok: boolean; detail: string } } };
  return { status, ...parts.clickhouse };
}

/**
 * Waits until status reports this damage: each of its checks may exceed its three seconds. Returns what status says.
 */
async function untilDamaged(found: RegExp): Promise<string> {
  const isDamaged = ({ status, ok, detail }: State) => status === 1 && !ok && found.test(detail);
  return (await until(`a status with ${found}`, state, isDamaged, { intervalMs: EACH_SECOND.interval }))
    .detail;
}

/** Waits until status reports nothing. */
async function untilWhole(): Promise<void> {
  await expect.poll(state, EACH_SECOND).toMatchObject({ status: 0, ok: true });
}

/** Returns the link on the ports of another start. */
const at = (service: Service, link: Link): Link => ({
  ...link,
  short_url: `${service.short_url}/${link.slug}`,
});

/** Returns the condition of an alert. */
function alertOf(name: string): string | undefined {
  const { groups } = readYaml('deploy/prometheus/alerts.yml') as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === name)?.expr;
}

const GUIDE = readFileSync(join(CHECKOUT, 'docs', 'operations', 'damaged-data.md'), 'utf8');

/** Returns the one block of the guide that contains the words, with the names of this test. */
function statement(words: string, part: Part): string {
  const blocks = [...GUIDE.matchAll(/^```(?:sql|sh)\n(.*?)^```$/gms)].map(([, text = '']) => text);
  const [block, ...more] = blocks.filter((text) => text.includes(words));
  if (block === undefined || more.length > 0)
    throw new Error(`the guide must have exactly one block with "${words}"`);
  return (
    block
      // The embedded ClickHouse writes directories only.
      .replaceAll('.tar.gz', '')
      .replaceAll('202611_1_5_1', part.name)
      .replaceAll('202611', part.partition_id)
      .replaceAll('/backup/hoplog-2026-11-24-0300', `${dataDir}.backup`)
      .replaceAll(/(^| )data\//gm, `$1${dataDir}/`)
  );
}

const run = (query: string) => withClickHouse((client) => client.command({ query }));
const shell = (script: string) => execFileSync('sh', ['-euc', script], { stdio: 'pipe' });

/** Starts the service after the damage, which status must report. */
async function startDamaged(): Promise<Service> {
  service = await startService({ dataDir });
  await untilDamaged(/damaged parts/);
  return service;
}

/** Keeps the size: only a read finds this damage. */
function overwrite(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(statSync(path).size, 0xff));
  closeSync(file);
}

test('a part of the clicks that ClickHouse detaches at its start is named by log, metric and status until it is dropped; a copy of DATA_DIR restores its clicks as the guide says, each once', async () => {
  const { key, link, part } = copyClicked();
  shell(`cp -a '${dataDir}' '${dataDir}.backup'`);
  const data = join(part.path, 'data.bin');
  truncateSync(data, statSync(data).size - 10);

  const metricsPort = await freePort('127.0.0.1', 4);
  const restarted = await startService({ dataDir, env: { METRICS_PORT: String(metricsPort) } });
  service = restarted;
  const aside = `broken-on-start_${part.name}`;
  const found = new RegExp(
    `clicks ${aside} \\(broken-on-start, partition ${part.partition_id}, \\d+\\.\\d+ MB\\)`,
  );
  const lines = () => restarted.log().split('\n').slice(0, -1);
  const logged = () => lines().find((one) => found.test(one));
  const line = await until('the damaged part in the log', logged, (one) => one !== undefined);
  expect(JSON.parse(line)).toMatchObject({ level: 50, tier: 'workers', table: 'clicks', part: aside });
  const metrics = async () => {
    const urls = [0, 1, 2, 3].map((following) => `http://127.0.0.1:${metricsPort + following}/metrics`);
    return (await Promise.all(urls.map(async (url) => (await fetch(url)).text()))).join('\n');
  };
  await expect
    .poll(metrics)
    .toContain('hoplog_worker_damaged_parts{replica="main",table="clicks",tier="workers"} 1');
  expect(alertOf('DamagedParts')).toBe('max by (release, replica, table) (hoplog_worker_damaged_parts) > 0');

  const looks: string[] = [];
  await withClickHouse(async (clickhouse) => {
    const log = pino({}, { write: (text: string) => void looks.push(text) });
    const look = createDamageWatch({
      replicas: [{ name: 'main', clickhouse }],
      log,
      metrics: createWorkerMetrics(new Registry()),
    });
    for (const _ of ['found', 'known']) await look();
  });
  expect(looks).toEqual([expect.stringMatching(found)]);

  const detail = await untilDamaged(found);
  expect(detail).toContain('docs/operations/damaged-data.md');

  // New clicks are stored meanwhile.
  await follow(at(restarted, link));
  expect(await untilClicks(restarted, key, link, 1)).toHaveLength(1);

  await run(statement('CREATE TABLE clicks_from_backup', part));
  shell(statement('cp -a /backup', part));
  await run(statement('ATTACH PARTITION', part));
  for (const _ of ['once', 'again']) await run(statement('INSERT INTO clicks ', part));
  await run(statement('DROP TABLE clicks_from_backup', part));
  await untilDamaged(found);
  await run(statement('DROP DETACHED PART', part));
  expect(await untilClicks(restarted, key, link, 4)).toHaveLength(4);
  await untilWhole();
});

test('a part with a damaged list of checksums is attached again as the guide says, with all of its clicks', async () => {
  const { key, link, part } = copyClicked();
  truncateSync(join(part.path, 'checksums.txt'), 0);
  const damaged = await startDamaged();
  shell(statement('/checksums.txt', part));
  await run(statement('ALTER TABLE clicks ATTACH PART', part));
  expect(await untilClicks(damaged, key, link, 3)).toHaveLength(3);
  await untilWhole();
});

test('status names a part of the clicks that cannot be read any more, after a read of it; an archive of BACKUP restores its clicks as the guide says', async () => {
  const { key, link, part } = copyClicked();
  overwrite(join(part.path, 'data.bin'));

  service = await startService({ dataDir });
  const response = await fetch(`${service.api_url}/clicks?link_id=${link.id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBeGreaterThanOrEqual(500);
  await untilDamaged(new RegExp(`clicks ${part.name} \\(unreadable, partition ${part.partition_id}`));

  expect(await run(statement('RESTORE TABLE', part))).toBeDefined();
  await run(statement('DETACH PART', part));
  await run(statement('INSERT INTO clicks ', part));
  await run(statement('DROP TABLE clicks_from_backup', part));
  expect(await untilClicks(service, key, link, 3)).toHaveLength(3);
  await untilWhole();
});
