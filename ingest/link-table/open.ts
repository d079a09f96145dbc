import type { Logger } from '../../core/log.ts';
import type { Pool } from '../../sql/pool.ts';
import { createTableLoader, type TableLoader } from './loader.ts';
import { listenForChanges } from './notifications.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createLinkTable, type LinkTable } from './table.ts';
import { createTableFiles } from './table-files.ts';
import { createTableWriter } from './table-writer.ts';

/** The link table at work: filled from disk, following PostgreSQL. */
export type OpenLinkTable = {
  table: LinkTable;
  resolver: Resolver;
  loader: TableLoader;
  /** Whether it has held every link that it may hold, of some moment: of the last run's end, or of now. */
  loaded(): boolean;
  close(): Promise<void>;
};

/**
 * Reads what is kept in `dir` and begins to follow PostgreSQL, which may be down.
 *
 * @param given.most most links held; the others are asked of PostgreSQL when a visitor wants them
 * @throws when `dir` can't be read or written
 */
export async function openLinkTable(given: {
  pool: Pool;
  dir: string;
  log: Logger;
  most: number;
}): Promise<OpenLinkTable> {
  const { pool, dir, log, most } = given;
  const table = createLinkTable();
  const files = createTableFiles({ dir, table, log });
  const kept = await files.load();
  log.info({ slugs: table.size(), kept }, 'link table: read from disk');
  const writer = createTableWriter({ table, files, kept, most, log });
  writer.trim();
  const loader = createTableLoader({ pool, table, writer, most, log });
  const resolver = createResolver({ pool, table, writer, loader });
  loader.start();
  const stopListening = listenForChanges(pool, loader.wake);
  let ready = kept;
  return {
    table,
    resolver,
    loader,
    loaded() {
      ready ||= loader.loaded();
      return ready;
    },
    async close() {
      stopListening();
      await loader.stop();
      await files.close();
    },
  };
}
