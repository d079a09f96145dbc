import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../cli/embedded/postgres.ts';
import { generateSlug } from '../core/links/slugs.ts';
import { silentLogger } from '../core/tier/log.ts';
import { LINKS_FILE } from '../ingest/link-table/disk/paths.ts';
import { openLinkTable } from '../ingest/link-table/open.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';

/**
 * Time and memory of the link table: `node bench/link-table.ts [--links 1000000]`. Fills a PostgreSQL of its own and
 * loads the table from it, then from its file alone. The last row is a process with 20,000 links in memory
 * (`INGEST_LINKS_IN_MEMORY`): the time until its file is complete.
 */
const { values } = parseArgs({ options: { links: { type: 'string', default: '1000000' } } });

const BATCH = 20_000;
const LIMIT_BYTES = 2 ** 30;

async function fill(pool: Pool, links: number): Promise<void> {
  const { id } = await createWorkspace(pool, { name: 'Bench', plan: 'unlimited' });
  for (let made = 0; made < links; made += BATCH) {
    const slugs = Array.from({ length: Math.min(BATCH, links - made) }, generateSlug);
    // One campaign per link: the largest table for this number of links.
    await pool.query(
      `WITH given AS (SELECT slug, n, gen_random_uuid() AS campaign FROM unnest($2::text[]) WITH ORDINALITY AS g (slug, n)),
       campaigns AS (INSERT INTO destinations (id, workspace_id, name, destination_url)
         SELECT campaign, $1, 'Campaign', 'https://www.example.com/products/category-' || (n % 100) || '/item-' || slug ||
           '?variant=' || n FROM given)
       INSERT INTO links (id, workspace_id, destination_id, slug, channel, utm_source, utm_medium, utm_campaign,
         created_at, updated_at)
       SELECT gen_random_uuid(), $1, campaign, slug, 'facebook', 'facebook', 'social', 'spring-sale-' || (n % 50),
         now() + ($3 + n) * interval '1 microsecond', now() FROM given
       ON CONFLICT DO NOTHING`,
      [id, slugs, made],
    );
  }
  await pool.query('TRUNCATE link_changes');
}

type Row = {
  step: string;
  seconds: string;
  links: number;
  /** Null if this process has loaded another table before. */
  'RSS MiB': number | null;
  'records MiB': number;
  /** Of the links on disk. */
  'disk bytes a link': number | null;
};

async function load(
  step: string,
  pool: Pool,
  dir: string,
  fromDisk: boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<Row> {
  const started = performance.now();
  const opened = await openLinkTable({
    catchUp: false,
    pool,
    sources: {
      databaseUrl: postgres.url,
      databaseDirectUrl: postgres.url,
      databaseReadUrl: '',
      snapshot: null,
    },
    dir,
    log: silentLogger(),
    most,
  });
  while (!fromDisk && !opened.syncStatus.loaded()) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const { rss } = process.memoryUsage();
  const row = {
    step,
    seconds,
    links: opened.table.size(),
    'RSS MiB': Number.isFinite(most) ? null : Math.round(rss / 2 ** 20),
    'records MiB': Math.round(opened.table.bytes() / 2 ** 20),
    'disk bytes a link': bytesOnDisk(dir),
  };
  await opened.close();
  if (rss > LIMIT_BYTES) process.exitCode = 1;
  return row;
}

/** Returns the progress of the file with all links; null without a file. */
function bytesOnDisk(dir: string): number | null {
  const file = statSync(join(dir, LINKS_FILE), { throwIfNoEntry: false });
  return file === undefined ? null : Math.round(file.size / Number(values.links));
}

const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir, log: silentLogger(), durable: false });
const pool = createPool(postgres.url, { statementTimeoutMs: 300_000 });
const dir = join(dataDir, 'ingest');
try {
  await migrate(pool);
  await fill(pool, Number(values.links));
  console.table([
    await load('from PostgreSQL', pool, dir, false),
    await load('from disk', pool, dir, true),
    await load('onto disk, 20,000 in memory', pool, join(dataDir, 'bounded'), false, 20_000),
  ]);
} finally {
  await pool.end();
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
