import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { removeLinksFile } from './disk/paths.ts';
import { createLinkCache } from './link-cache.ts';
import { createTableLoader, type SyncStatus } from './loader.ts';
import { createMemorySink } from './memory-sink.ts';
import { listenForChanges } from './notifications.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createSnapshotFiles, removeSnapshotFiles } from './snapshot-files.ts';
import { createLinkTable, type LinkTable } from './table.ts';
import { createTableWriter } from './table-writer.ts';

/** A reader that has not started by then leaves the first questions to PostgreSQL. */
const READER_START_MS = 5_000;
/** So long a start waits for PostgreSQL to tell what has changed since the table was kept. */
const CATCH_UP_MS = 5_000;
/** A question that PostgreSQL does not answer is not waited for longer by who ends. */
const STOP_MS = 1_000;

/** The link table at work: filled from disk, following PostgreSQL. */
export type OpenLinkTable = {
  /** What is in memory. */
  table: LinkTable;
  resolver: Resolver;
  syncStatus: SyncStatus;
  /** Whether links can be answered: from what the last run has left, or since PostgreSQL has been read. */
  ready(): boolean;
  /** Links read from disk so far because memory did not have them. */
  diskReads(): number;
  /** How often the disk has refused what keeps the table in memory for the next start. */
  diskFailures(): number;
  close(): Promise<void>;
};

export type LinkTableOptions = {
  pool: Pool;
  databaseUrl: string;
  dir: string;
  log: Logger;
  /** Most links in memory. Fewer than infinitely many: all of them are on disk, and those that visitors want in memory. */
  most: number;
  /** Whether to wait a moment for PostgreSQL: what was deleted while nobody syncStatus it must not redirect again. */
  catchUp: boolean;
};

/**
 * Reads what is kept in `dir` and begins to follow PostgreSQL, which may be down.
 *
 * @throws when `dir` can't be read or written
 */
export async function openLinkTable(options: LinkTableOptions): Promise<OpenLinkTable> {
  return options.most === Number.POSITIVE_INFINITY ? openInMemory(options) : openOnDisk(options);
}

async function openInMemory({ pool, dir, log, catchUp }: LinkTableOptions): Promise<OpenLinkTable> {
  const table = createLinkTable();
  const files = createSnapshotFiles({ dir, table, log });
  const kept = await files.load();
  log.info({ slugs: table.size(), kept }, 'link table: read from disk');
  if (kept) removeLinksFile(dir);
  const writer = createTableWriter(createMemorySink(table, files, kept), log);
  const loader = createTableLoader({ pool, writer, log, syncPoint: files.syncPoint() });
  const resolver = createResolver({ pool, table, cache: writer, syncStatus: loader, disk: null });
  loader.start();
  const stopListening = listenForChanges(pool, loader.wake);
  if (kept && catchUp) await within(CATCH_UP_MS, loader.tried);
  return {
    table,
    resolver,
    syncStatus: loader,
    ready: () => kept || loader.loaded(),
    diskReads: () => 0,
    diskFailures: files.failures,
    async close() {
      stopListening();
      await within(STOP_MS, loader.stop());
      await files.close();
    },
  };
}

async function openOnDisk({
  pool,
  databaseUrl,
  dir,
  log,
  most,
  catchUp,
}: LinkTableOptions): Promise<OpenLinkTable> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // Not before it is needed: SQLite is an experimental part of Node 22.
  const { openDiskTable } = await import('./disk/disk-table.ts');
  const table = createLinkTable();
  const disk = openDiskTable({ databaseUrl, dir, table, log });
  if (disk.ready()) await removeSnapshotFiles(dir);
  if (disk.whole()) {
    // A thread takes a while to start: nobody is let in who would have to wait for that.
    const started = within(
      READER_START_MS,
      disk.find([]).catch(() => {}),
    );
    await Promise.all([started, catchUp && within(CATCH_UP_MS, disk.tried)]);
  }
  const resolver = createResolver({
    pool,
    table,
    cache: createLinkCache(table, most),
    syncStatus: disk,
    disk,
  });
  return {
    table,
    resolver,
    syncStatus: disk,
    ready: disk.ready,
    diskReads: disk.reads,
    diskFailures: () => 0,
    close: disk.close,
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(ms, undefined, { ref: false })]);
}
