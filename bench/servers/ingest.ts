import { join } from 'node:path';
import { freePort } from '../../cli/embedded/free-port.ts';
import { nodeFlags } from '../../cli/programs/programs.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { fillLinks } from '../data/links.ts';
import type { Bench } from '../harness/bench.ts';
import { metric } from '../harness/metrics.ts';
import { startTier } from '../harness/tier.ts';

/** A real ingest process with links. */
export type RedirectTier = {
  port: number;
  pid: number;
  /** Returns the journaled and the lost clicks. */
  journaled(): Promise<{ written: number; lost: number }>;
  /** Returns the slugs looked up in PostgreSQL and on disk. */
  missed(): Promise<{ asked: number; read: number }>;
  stop(): Promise<void>;
};

/** Enough for minutes at 100,000 clicks per second; the journal is not truncated. */
const JOURNAL_BUDGET = '32GiB';

/**
 * Fills a database with links and starts `ingest/main.ts`. Resolves when all links are in memory, or on disk for a
 * bounded table.
 *
 * @param given.sync `JOURNAL_SYNC`
 * @param given.profile folder for a CPU profile, empty: none
 */
export async function startRedirectTier(
  bench: Bench,
  database: { url: string; pool: Pool },
  given: {
    name: string;
    links: number;
    cores: string;
    sync?: string;
    profile?: string;
    env?: NodeJS.ProcessEnv;
  },
): Promise<RedirectTier> {
  const { id } = await createWorkspace(database.pool, { name: 'Bench', plan: 'unlimited' });
  await fillLinks(database.pool, id, given.links);
  const metricsPort = await freePort();
  const tier = await startTier(bench, {
    script: 'ingest/main.ts',
    flags: nodeFlags('ingest'),
    cores: given.cores,
    ...(given.profile === undefined ? {} : { profile: given.profile }),
    env: {
      DATABASE_URL: database.url,
      DATA_DIR: join(bench.directory, given.name),
      INGEST_PORT: '0',
      METRICS_PORT: String(metricsPort),
      SHORT_URL: 'http://short.test',
      JOURNAL_SYNC: given.sync ?? '5ms',
      JOURNAL_BUDGET,
      ...given.env,
    },
  });
  const port = Number(tier.ready.port);
  while (!(await isReady(metricsPort))) await new Promise((resolve) => setTimeout(resolve, 100));
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return {
    port,
    pid: tier.pid,
    stop: tier.stop,
    async missed() {
      const text = await metrics();
      return {
        asked: metric(text, 'hoplog_ingest_misses_total'),
        read: metric(text, 'hoplog_ingest_link_table_disk_reads_total'),
      };
    },
    async journaled() {
      const text = await metrics();
      return {
        written: metric(text, 'hoplog_journal_events_total'),
        lost: metric(text, 'hoplog_journal_lost_total'),
      };
    },
  };
}

/**
 * Checks, on the metrics port, that all links are loaded: with a bounded table, ingest is ready before its file is
 * complete.
 */
async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
  const { link_table: table } = (await answer.json()) as { link_table: { age_seconds: number | null } };
  return answer.status === 200 && table.age_seconds !== null;
}

/** Asserts that every redirect is journaled. @throws Error when one is not */
export async function requireJournaled(tier: RedirectTier, answered: number): Promise<void> {
  const { written, lost } = await tier.journaled();
  if (lost > 0 || written < answered) {
    throw new Error(`${answered} redirects were answered, ${written} clicks journaled, ${lost} lost`);
  }
}
