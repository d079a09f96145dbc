import { onTestFinished } from 'vitest';
import type { Logger } from '../../core/tier/log.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createTableLoader } from '../../ingest/link-table/loader.ts';
import { createResolver } from '../../ingest/link-table/resolver.ts';
import { createLinkTable } from '../../ingest/link-table/table.ts';
import { createTableWriter, type TableSink } from '../../ingest/link-table/table-writer.ts';
import type { Pool } from '../../sql/database/pool.ts';

type Given = Partial<
  Pick<Parameters<typeof createTableLoader>[0], 'syncPoint' | 'page' | 'elsewhere' | 'pollMs'> & {
    log: Logger;
  }
>;

/** A link table in memory whose loader has not started. */
export function quietTable(pool: Pool, sink: Partial<TableSink> = {}, given: Given = {}) {
  const table = createLinkTable();
  const memory: TableSink = {
    put: (record) => void table.put(record),
    remove: (id) => void table.remove(id),
    putKey: (key) => void table.putKey(key),
    removeKey: (id) => void table.removeKey(id),
    keys: table.keys,
    beginLoad: table.beginLoad,
    async endLoad() {
      for (const _ of table.endLoad());
    },
    beginChanges() {},
    async settle() {},
  };
  const { log = silentLogger() } = given;
  const writer = createTableWriter({ ...memory, ...sink }, log);
  const loader = createTableLoader({ ...given, pool, writer, log });
  onTestFinished(loader.stop);
  return {
    table,
    loader,
    resolver: createResolver({ pool, table, cache: writer, syncStatus: loader, disk: null }),
  };
}
