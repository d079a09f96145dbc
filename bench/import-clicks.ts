import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { importClicks } from '../api/click-imports/import-clicks.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { silentLogger } from '../core/tier/log.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { makeLink } from '../test/support/ingest.ts';
import { benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { cpuSeconds, family } from './harness/processes.ts';
import { number, report } from './harness/report.ts';
import { makeDatabase, startClickHouse, startPostgres } from './harness/stores.ts';

/**
 * Measures the import of a CSV of clicks over three years, in order, and of the same file again.
 *
 *   node bench/import-clicks.ts [--rows 1000000] [--results FOLDER]
 *
 * Uses temporary embedded databases, durable as in production.
 */

const options = readOptions({ rows: 1_000_000 });
const WANTED_SECONDS = 60;
const LINKS = 100;
const AGENTS = 2_000;
const FIRST = Date.UTC(2023, 0, 1);
const STEP_MS = (3 * 365 * 86_400_000) / options.rows;
const COUNTRIES = ['DE', 'FR', 'US', 'GB', 'NL', 'ES', 'IT', 'PL'];

await benchmark(async (bench) => {
  const postgres = await startPostgres(bench);
  const server = await startClickHouse(bench);
  const { pool } = await makeDatabase(bench, postgres.url, 'import_clicks');
  const clickhouse = createClickHouse({ url: server.url, database: 'import_clicks' });
  bench.defer(() => clickhouse.close());
  const anyDatabase = createClickHouse({ url: server.url, database: 'default' });
  bench.defer(() => anyDatabase.close());
  await migrate(anyDatabase, { database: 'import_clicks' });
  const workspace = await createWorkspace(pool, { name: 'Bench', plan: 'unlimited' });
  for (let n = 0; n < LINKS; n++)
    await makeLink(pool, workspace.id, 'https://shop.example/', { slug: `l${n}` });
  const path = join(bench.directory, 'clicks.csv');
  await writeRows(path);

  async function timed(): Promise<string[]> {
    const before = cpu();
    const start = performance.now();
    const { created, failed } = await importClicks({
      pool,
      clickhouses: { replicas: [{ name: 'main', clickhouse }], log: silentLogger() },
      workspace,
      shortUrl: 'https://hop.example',
      source: 'csv',
      text: createReadStream(path, { encoding: 'utf8' }),
      form: { kind: 'csv', delimiter: ',', firstLine: 1 },
    });
    const seconds = (performance.now() - start) / 1_000;
    const after = cpu();
    if (failed > 0) throw new Error(`${failed} rows failed`);
    return [
      number(seconds, 1),
      `under ${WANTED_SECONDS}`,
      number(after.own - before.own, 1),
      number(after.others - before.others, 1),
      number(created),
    ];
  }

  const first = await timed();
  const again = await timed();
  report(options.results, {
    name: 'import-clicks',
    title: `Import of ${number(options.rows)} clicks of three years from CSV`,
    versions: [],
    tables: [
      {
        header: ['', 'seconds', 'wanted', 'CPU s, command', 'CPU s, databases', 'created'],
        rows: [
          ['first import', ...first],
          ['the same again', ...again],
        ],
      },
    ],
  });
});

/** CPU seconds of this process, and of its children. */
function cpu(): { own: number; others: number } {
  const { user, system } = process.cpuUsage();
  const others = family(process.pid).slice(1);
  return { own: (user + system) / 1e6, others: others.reduce((sum, pid) => sum + cpuSeconds(pid), 0) };
}

async function writeRows(path: string): Promise<void> {
  const file = createWriteStream(path);
  file.write('ts,slug,country,city,referer,user_agent,visitor\n');
  for (let n = 0; n < options.rows; n++) {
    const ts = `${new Date(FIRST + n * STEP_MS).toISOString().slice(0, 19)}Z`;
    const agent = `Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/${n % AGENTS}.0`;
    const row = `${ts},l${n % LINKS},${COUNTRIES[n % 8]},City ${n % 997},https://news.example/${n % 50},${agent},v${n % 300_000}\n`;
    if (!file.write(row)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}
