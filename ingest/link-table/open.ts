import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { LinkSources } from './disk/messages.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { createLinkCache } from './link-cache.ts';
import type { SyncStatus } from './loader.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createLinkTable, type LinkTable } from './table.ts';
import { createWorkspacePolicies, type WorkspacePolicies } from './workspace-policies.ts';

/** Limit of the wait for the reader thread: after it the first lookups go to PostgreSQL. */
const READER_START_MS = 30_000;
/** Limit of the wait for PostgreSQL's changes since the file was written. */
const CATCH_UP_MS = 5_000;

/** The open link table: filled from disk and updated from PostgreSQL. */
export type OpenLinkTable = {
  /** The part in memory. */
  table: LinkTable;
  resolver: Resolver;
  policies: WorkspacePolicies;
  hosts: Hosts;
  syncStatus: SyncStatus;
  /** Whether links can be served: from the file of an earlier run, or since PostgreSQL was read. */
  ready(): boolean;
  /** Links read from disk so far because memory did not have them. */
  diskReads(): number;
  /** How often the disk refused the file that the next start needs. */
  diskFailures(): number;
  close(): Promise<void>;
};

export type LinkTableOptions = {
  pool: Pool;
  sources: LinkSources;
  dir: string;
  log: Logger;
  /** Most links in memory. With fewer than infinity, memory holds those that visitors use. */
  most: number;
  /** Whether to wait a moment for PostgreSQL, so that a link deleted while ingest was down does not redirect again. */
  catchUp: boolean;
  /** See {@link createResolver}. */
  lookupMs?: number | undefined;
};

/**
 * Opens the table in `dir` and starts to replicate PostgreSQL, which may be down.
 *
 * @throws when `dir` can't be created
 */
export async function openLinkTable(options: LinkTableOptions): Promise<OpenLinkTable> {
  const { pool, sources, dir, log, most, catchUp } = options;
  const memoryHoldsAll = most === Number.POSITIVE_INFINITY;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // Loaded here, so that importing ingest does not print SQLite's warning (experimental in Node 22).
  const { openDiskTable } = await import('./disk/disk-table.ts');
  const table = createLinkTable();
  const policies = createWorkspacePolicies(table);
  const hosts = createHosts(table);
  const disk = openDiskTable({ sources, dir, table, memoryHoldsAll, log });
  const waits: Promise<unknown>[] = [];
  // The reader thread takes a while to start, and visitors would wait for it.
  if (disk.hasMore())
    waits.push(
      within(
        READER_START_MS,
        disk.find([]).catch(() => {}),
      ),
    );
  if (catchUp && disk.ready()) waits.push(within(CATCH_UP_MS, disk.tried));
  await Promise.all(waits);
  const resolver = createResolver({
    pool,
    table,
    cache: createLinkCache(table, most),
    syncStatus: disk,
    disk,
    lookupMs: options.lookupMs,
  });
  return {
    table,
    resolver,
    policies,
    hosts,
    syncStatus: disk,
    ready: disk.ready,
    diskReads: disk.reads,
    diskFailures: disk.failures,
    close: disk.close,
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(ms, undefined, { ref: false })]);
}
