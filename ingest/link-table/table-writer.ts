import { uuidToBytes } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { LinkTableRow, OtherSlugRow, PublishableKeyRow } from '../../sql/links/link-table.ts';
import { LARGEST_RECORD } from './arena.ts';
import { type KnownKey, keyOf } from './known-key.ts';
import type { SyncPoint } from './loader.ts';
import { encodeLink, encodeOther, idOf, slugOf } from './records.ts';

/** Where the rows go: the table in memory and its files, or the table on disk. */
export type TableSink = {
  /** @param record of `records.ts`, of {@link LARGEST_RECORD} bytes at most */
  put(record: Buffer): void;
  remove(id: Uint8Array): void;
  putKey(key: KnownKey): void;
  removeKey(id: string): void;
  keys(): Iterable<KnownKey>;
  /** What is not put until {@link endLoad} is gone then; keys are the writer's own business. */
  beginLoad(): void;
  endLoad(): Promise<void>;
  /** What comes until {@link settle} has just changed in PostgreSQL. */
  beginChanges(): void;
  /**
   * Keeps what was put. Called after each round of changes.
   *
   * @param syncPoint where the table stands now; null while it may lack changes
   */
  settle(syncPoint: SyncPoint | null): Promise<void>;
};

/**
 * Puts PostgreSQL's rows into a store. A row that the table can't hold is left out, so that each visitor of its slug asks
 * PostgreSQL: it must not stop the rows behind it.
 */
export type TableWriter = Pick<TableSink, 'put' | 'beginLoad' | 'endLoad' | 'beginChanges' | 'settle'> & {
  putKey(row: PublishableKeyRow): void;
  /** Those of `ids` that are not among the rows are gone. */
  replaceLinks(ids: string[], rows: LinkTableRow[]): void;
  replaceOthers(ids: string[], rows: OtherSlugRow[]): void;
  replaceKeys(ids: string[], rows: PublishableKeyRow[]): void;
};

export function createTableWriter(store: TableSink, log: Logger): TableWriter {
  let keysLoaded = new Set<string>();
  /** Slugs of rows that were left out: each is told once, not at each visit. */
  const leftOut = new Set<string>();

  function put(record: Buffer): void {
    if (record.length > LARGEST_RECORD) leaveOut(record);
    else store.put(record);
  }
  function leaveOut(record: Buffer): void {
    store.remove(idOf(record));
    const slug = slugOf(record);
    if (leftOut.has(slug)) return;
    leftOut.add(slug);
    log.error({ slug, bytes: record.length }, 'link table: too large to be held, PostgreSQL is asked for it');
  }
  function putKey(row: PublishableKeyRow): void {
    keysLoaded.add(row.id);
    store.putKey(keyOf(row));
  }
  /** Calls `remove` with the ids that no row has. */
  function missing(ids: string[], rows: { id: string }[], remove: (id: string) => void): void {
    const live = new Set(rows.map((row) => row.id));
    for (const id of ids) if (!live.has(id)) remove(id);
  }

  return {
    put,
    putKey,
    replaceLinks(ids, rows) {
      missing(ids, rows, (id) => store.remove(uuidToBytes(id)));
      for (const row of rows) put(encodeLink(row));
    },
    replaceOthers(ids, rows) {
      missing(ids, rows, (id) => store.remove(uuidToBytes(id)));
      for (const row of rows) put(encodeOther(row));
    },
    replaceKeys(ids, rows) {
      missing(ids, rows, store.removeKey);
      for (const row of rows) putKey(row);
    },
    beginLoad() {
      keysLoaded = new Set();
      store.beginLoad();
    },
    async endLoad() {
      for (const { id } of [...store.keys()]) if (!keysLoaded.has(id)) store.removeKey(id);
      await store.endLoad();
    },
    beginChanges: store.beginChanges,
    settle: store.settle,
  };
}
