import type { LinkTable } from './table.ts';
import type { TableFiles } from './table-files.ts';
import type { TableStore } from './table-writer.ts';

/**
 * The table in memory, with all links, and its files.
 *
 * @param kept whether the table was filled from the files: its first load then changes little
 */
export function createKeptStore(table: LinkTable, files: TableFiles, kept: boolean): TableStore {
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
    async settle(standing) {
      await files.compact();
      if (standing !== null) files.noteStanding(standing);
    },
  };
}
