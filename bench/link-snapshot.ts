import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../cli/embedded/postgres.ts';
import { uuidv7 } from '../core/ids.ts';
import { readConfig } from '../core/settings/config.ts';
import { createLogger, silentLogger } from '../core/tier/log.ts';
import { openLinkTable } from '../ingest/link-table/open.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';

/**
 * What a new volume of one ingest process costs: `node bench/link-snapshot.ts [--links 10000000]`. Fills a PostgreSQL
 * of its own, and then the links' file of one process after the other, with a million links in memory: from PostgreSQL,
 * and from the snapshot that the first one has written to a folder. Queries are the transactions that PostgreSQL counts,
 * those of polls included.
 */
const { values } = parseArgs({ options: { links: { type: 'string', default: '10000000' } } });
const LINKS = Number(values.links);
const BATCH = 500_000;
/** Time after which PostgreSQL has counted all transactions. Milliseconds. */
const COUNTED_MS = 2_000;

async function fill(pool: Pool): Promise<void> {
  const { id } = await createWorkspace(pool, { name: 'Bench', plan: 'unlimited' });
  const client = await pool.connect();
  // Without triggers, which would note each link as a change.
  await client.query('SET session_replication_role = replica; SET synchronous_commit = off');
  // The walk reads links by their primary key alone.
  const { rows } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
     WHERE indrelid = 'links'::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  for (let made = 0; made < LINKS; made += BATCH) {
    const campaign = uuidv7();
    await client.query(
      `INSERT INTO destinations (id, workspace_id, name, destination_url)
       VALUES ($1, $2, 'Campaign', 'https://www.example.com/products/category/item?variant=' || $3::int)`,
      [campaign, id, made],
    );
    await client.query(
      `INSERT INTO links (id, workspace_id, destination_id, slug, channel, utm_source, utm_medium, utm_campaign,
         created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2, 'link-' || n, 'facebook', 'facebook', 'social', 'spring-sale-' || (n % 50),
         now() + n * interval '1 microsecond', now() FROM generate_series($3::int, $4::int) AS n`,
      [id, campaign, made + 1, Math.min(made + BATCH, LINKS)],
    );
  }
  client.release(true);
  await pool.query('ANALYZE');
}

async function queries(pool: Pool): Promise<number> {
  await delay(COUNTED_MS);
  const { rows } = await pool.query<{ count: number }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0]?.count ?? Number.NaN;
}

async function fillTable(step: string, pool: Pool, dir: string, stay: () => Promise<void>) {
  const before = await queries(pool);
  const began = performance.now();
  const config = readConfig({ LINKS_SNAPSHOT_TO: join(dataDir, 'shared') });
  const opened = await openLinkTable({
    catchUp: false,
    pool,
    sources: {
      databaseUrl: postgres.url,
      databaseDirectUrl: postgres.url,
      databaseReadUrl: '',
      snapshot: { to: config.linksSnapshotTo, s3: config.s3, secret: Buffer.alloc(32, 1) },
    },
    dir,
    log: createLogger('bench', 'info'),
    most: 1_000_000,
  });
  let readyMs = Number.NaN;
  while (!opened.syncStatus.loaded()) {
    if (Number.isNaN(readyMs) && opened.ready()) readyMs = performance.now() - began;
    await delay(20);
  }
  const seconds = (performance.now() - began) / 1_000;
  const count = (await queries(pool)) - before;
  await stay();
  await opened.close();
  return {
    step,
    'ready after s': (readyMs / 1_000).toFixed(1),
    'filled after s': Math.round(seconds),
    'queries on the primary': count,
  };
}

const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir, log: silentLogger(), durable: false });
const pool = createPool(postgres.url, { statementTimeoutMs: 900_000 });
try {
  await migrate(pool);
  await fill(pool);
  console.table([
    await fillTable('from PostgreSQL', pool, join(dataDir, 'first'), untilSnapshot),
    await fillTable('from a snapshot', pool, join(dataDir, 'second'), async () => {}),
  ]);
} finally {
  await pool.end();
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function untilSnapshot(): Promise<void> {
  const root = join(dataDir, 'shared', 'links');
  const isWritten = () =>
    existsSync(root) && readdirSync(root).some((folder) => existsSync(join(root, folder, 'manifest.json')));
  while (!isWritten()) await delay(500);
}
