import { uuidToBytes } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import type {
  DomainRow,
  LinkTableRow,
  OtherSlugRow,
  PublishableKeyRow,
  WorkspacePolicyRow,
} from '../../sql/links/link-table.ts';
import { LARGEST_RECORD } from './arena.ts';
import { type KnownKey, keyOf } from './known-key.ts';
import type { SyncPoint } from './loader.ts';
import { encodeDomain, encodeLink, encodeOther, encodePolicy, idOf, recordName } from './records.ts';

/** The destination of the rows: the file, and the changes for the table in memory. */
export type TableSink = {
  /** @param record see `records.ts`; at most {@link LARGEST_RECORD} bytes */
  put(record: Buffer): void;
  remove(id: Uint8Array): void;
  putKey(key: KnownKey): void;
  removeKey(id: string): void;
  keys(): Iterable<KnownKey>;
  /**
   * Starts a full load: {@link endLoad} removes the records that were not put since. The writer removes keys itself.
   */
  beginLoad(): void;
  endLoad(): Promise<void>;
  /** Announces rows that changed in PostgreSQL just now, until {@link settle}. */
  beginChanges(): void;
  /**
   * Commits what was put. Called after each set of changes.
   *
   * @param syncPoint the table's state; null while it may lack changes
   */
  settle(syncPoint: SyncPoint | null): Promise<void>;
};

/**
 * Writes PostgreSQL's rows into a sink. A row that is too large for the table is left out, so that visitors of its
 * slug are served from PostgreSQL and later rows are not held up.
 */
export type TableWriter = Pick<TableSink, 'put' | 'beginLoad' | 'endLoad' | 'beginChanges' | 'settle'> & {
  putKey(row: PublishableKeyRow): void;
  /** Removes those of `ids` that no row has. */
  replaceLinks(ids: string[], rows: LinkTableRow[]): void;
  replaceOthers(ids: string[], rows: OtherSlugRow[]): void;
  replacePolicies(ids: string[], rows: WorkspacePolicyRow[]): void;
  replaceDomains(ids: string[], rows: DomainRow[]): void;
  replaceKeys(ids: string[], rows: PublishableKeyRow[]): void;
};

export function createTableWriter(sink: TableSink, log: Logger): TableWriter {
  let keysLoaded = new Set<string>();
  /** Slugs of rows that were left out: logged once each. */
  const leftOut = new Set<string>();

  function put(record: Buffer): void {
    if (record.length > LARGEST_RECORD) leaveOut(record);
    else sink.put(record);
  }
  function leaveOut(record: Buffer): void {
    sink.remove(idOf(record));
    const slug = recordName(record);
    if (leftOut.has(slug)) return;
    leftOut.add(slug);
    log.error({ slug, bytes: record.length }, 'link table: record too large; PostgreSQL serves the slug');
  }
  function putKey(row: PublishableKeyRow): void {
    keysLoaded.add(row.id);
    sink.putKey(keyOf(row));
  }
  /** Calls `remove` with the ids that no row has. */
  function removeMissing(ids: string[], rows: { id: string }[], remove: (id: string) => void): void {
    const live = new Set(rows.map((row) => row.id));
    for (const id of ids) if (!live.has(id)) remove(id);
  }

  return {
    put,
    putKey,
    replaceLinks(ids, rows) {
      removeMissing(ids, rows, (id) => sink.remove(uuidToBytes(id)));
      for (const row of rows) put(encodeLink(row));
    },
    replaceOthers(ids, rows) {
      removeMissing(ids, rows, (id) => sink.remove(uuidToBytes(id)));
      for (const row of rows) put(encodeOther(row));
    },
    replacePolicies(ids, rows) {
      removeMissing(ids, rows, (id) => sink.remove(uuidToBytes(id)));
      for (const row of rows) put(encodePolicy(row));
    },
    replaceDomains(ids, rows) {
      removeMissing(ids, rows, (id) => sink.remove(uuidToBytes(id)));
      for (const row of rows) put(encodeDomain(row));
    },
    replaceKeys(ids, rows) {
      removeMissing(ids, rows, sink.removeKey);
      for (const row of rows) putKey(row);
    },
    beginLoad() {
      keysLoaded = new Set();
      sink.beginLoad();
    },
    async endLoad() {
      for (const { id } of [...sink.keys()]) if (!keysLoaded.has(id)) sink.removeKey(id);
      await sink.endLoad();
    },
    beginChanges: sink.beginChanges,
    settle: sink.settle,
  };
}
