import type { SnapshotFiles } from './snapshot-files.ts';
import type { LinkTable } from './table.ts';
import type { TableSink } from './table-writer.ts';

/**
 * The table in memory, with all links, and its files.
 *
 * @param kept whether the table was filled from the files: its first load then changes little
 */
export function createMemorySink(table: LinkTable, files: SnapshotFiles, kept: boolean): TableSink {
  let firstLoad = !kept;
  return {
    put(record) {
      if (table.put(record)) files.notePut(record);
    },
    remove(id) {
      if (table.remove(id)) files.noteRemoved(id);
    },
    putKey(key) {
      if (table.putKey(key)) files.noteKey(key);
    },
    removeKey(id) {
      const removed = table.removeKey(id);
      if (removed !== null) files.noteKeyRemoved(removed);
    },
    keys: table.keys,
    beginLoad() {
      if (firstLoad) files.pause();
      table.beginLoad();
    },
    async endLoad() {
      for (const id of table.endLoad()) files.noteRemoved(id);
      if (firstLoad) await files.completed();
      firstLoad = false;
    },
    beginChanges() {},
    async settle(syncPoint) {
      await files.compact();
      if (syncPoint !== null) files.noteSyncPoint(syncPoint);
    },
  };
}
