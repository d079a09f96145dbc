import { uuidToBytes } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import type { LinkTableRow, OtherSlugRow, PublishableKeyRow } from '../../sql/link-table.ts';
import { LARGEST_RECORD } from './arena.ts';
import { encodeLink, encodeOther, idOf, slugOf } from './records.ts';
import type { LinkTable } from './table.ts';
import type { TableFiles } from './table-files.ts';

/**
 * Puts PostgreSQL's rows into the table and notes on disk what that changed. A row that the table can't hold is left
 * out, so that each visitor of its slug asks PostgreSQL: it must not stop the rows behind it.
 */
export type TableWriter = {
  /** @param record of `records.ts` */
  put(record: Buffer): void;
  putKey(row: PublishableKeyRow): void;
  /** Those of `ids` that are not among the rows are gone. */
  replaceLinks(ids: string[], rows: LinkTableRow[]): void;
  replaceOthers(ids: string[], rows: OtherSlugRow[]): void;
  replaceKeys(ids: string[], rows: PublishableKeyRow[]): void;
  /** What is not put until {@link endLoad} is gone then. */
  beginLoad(): void;
  endLoad(): Promise<void>;
  /** Evicts links until the table holds no more than it may: after it was filled from disk. */
  trim(): void;
  /** Keeps the files in shape; called after each round. */
  settle(): Promise<void>;
};

/**
 * @param given.kept whether the table was filled from disk: its first load then changes little
 * @param given.most most links that stay in the table
 */
export function createTableWriter(given: {
  table: LinkTable;
  files: TableFiles;
  kept: boolean;
  most: number;
  log: Logger;
}): TableWriter {
  const { table, files, most, log } = given;
  let firstLoad = !given.kept;
  let keysLoaded = new Set<string>();
  /** Slugs of rows that were left out: each is told once, not at each visit. */
  const leftOut = new Set<string>();

  function put(record: Buffer): void {
    if (record.length > LARGEST_RECORD) {
      leaveOut(record);
    } else if (table.put(record)) {
      files.notePut(record);
      trim();
    }
  }
  function leaveOut(record: Buffer): void {
    remove(idOf(record));
    const slug = slugOf(record);
    if (leftOut.has(slug)) return;
    leftOut.add(slug);
    log.error({ slug, bytes: record.length }, 'link table: too large to be held, PostgreSQL is asked for it');
  }
  function trim(): void {
    while (table.links() > most) {
      const id = table.evict();
      if (id !== null) files.noteRemoved(id);
    }
  }
  function remove(id: Uint8Array): void {
    if (table.remove(id)) files.noteRemoved(id);
  }
  function putKey(row: PublishableKeyRow): void {
    const key = { id: row.id, lookup: row.lookup, hash: row.hash, workspaceId: row.workspace_id };
    keysLoaded.add(row.id);
    if (table.putKey(key)) files.noteKey(key);
  }
  function removeKey(id: string): void {
    const removed = table.removeKey(id);
    if (removed !== null) files.noteKeyRemoved(removed);
  }

  return {
    put,
    putKey,
    replaceLinks(ids, rows) {
      const live = new Set(rows.map((row) => row.id));
      for (const id of ids) if (!live.has(id)) remove(uuidToBytes(id));
      for (const row of rows) put(encodeLink(row));
    },
    replaceOthers(ids, rows) {
      const live = new Set(rows.map((row) => row.id));
      for (const id of ids) if (!live.has(id)) remove(uuidToBytes(id));
      for (const row of rows) put(encodeOther(row));
    },
    replaceKeys(ids, rows) {
      const live = new Set(rows.map((row) => row.id));
      for (const id of ids) if (!live.has(id)) removeKey(id);
      for (const row of rows) putKey(row);
    },
    beginLoad() {
      if (firstLoad) files.pause();
      keysLoaded = new Set();
      table.beginLoad();
    },
    async endLoad() {
      for (const id of table.endLoad()) files.noteRemoved(id);
      for (const { id } of [...table.keys()]) if (!keysLoaded.has(id)) removeKey(id);
      if (firstLoad) await files.writeSnapshot();
      firstLoad = false;
    },
    trim,
    settle: () => files.compact(),
  };
}
