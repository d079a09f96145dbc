import { closeSync, existsSync, openSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { asBuffer } from '../../../core/events/as-buffer.ts';
import { uuidToBytes } from '../../../core/ids.ts';
import { decodeKey, encodeKey, type KnownKey } from '../known-key.ts';
import type { SyncPoint } from '../loader.ts';
import { idOf, kindOf, recordName } from '../records.ts';
import { createBitSet } from './bit-set.ts';
import { LINKS_FILE, removeUnfinished, UNFINISHED } from './paths.ts';

/**
 * The whole link table in a SQLite file. One thread writes it ({@link createLinksFile}, {@link openLinksFile}); others
 * read what it has committed ({@link openLinksReader}).
 *
 * An `exclusive` reader locks all other connections out. It needs no `-shm` file, which a full volume has no room for,
 * so that a start can read the table there.
 */
export type LinksFile = {
  /** PostgreSQL's state at the last commit; null for a new file. */
  readonly syncPoint: SyncPoint | null;
  /** Puts a record, replacing those with its id or its slug. */
  put(record: Buffer): 'same' | 'changed' | 'new';
  remove(id: Uint8Array): void;
  putKey(key: KnownKey): void;
  removeKey(id: string): void;
  keys(): KnownKey[];
  /** Starts a full load: {@link endLoad} removes what was not put since. */
  beginLoad(): void;
  /**
   * Removes the records that the load did not put. @returns the ids in portions, so that the caller can yield between
   * them
   */
  endLoad(): Generator<Uint8Array[]>;
  /** Makes what was put visible to readers and safe from a crash of this process. */
  commit(syncPoint: SyncPoint | null): void;
  close(): void;
};

export type LinksReader = {
  /** Returns the record that the slug names, in any case of letters. */
  find(slug: string): Buffer | null;
  records(): Iterable<Buffer>;
  /** All but links. */
  others(): Iterable<Buffer>;
  keys(): KnownKey[];
  close(): void;
};

/** Raise it when records change: a file or a snapshot of another version is not read. */
export const RECORDS_VERSION = 4;
/** Memory for pages of the file, KiB. The operating system caches the rest. */
const WRITER_CACHE_KIB = 32 * 1024;
const READER_CACHE_KIB = 8 * 1024;
/** Rows looked at in one portion of {@link LinksFile.endLoad}. */
const PORTION = 10_000;
/** Rows of one read of all records: `iterate` takes twice the time. */
const READ_PAGE = 1_000;
/** Limit of the writer's wait for a lock, ms. A reader does not wait: visitors wait for it. */
const BUSY_MS = 1_000;

const SCHEMA = `
  CREATE TABLE records (
    ref INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    slug TEXT NOT NULL UNIQUE,
    other INTEGER NOT NULL,
    record BLOB NOT NULL
  );
  CREATE INDEX others ON records (ref) WHERE other = 1;
  CREATE TABLE keys (id BLOB PRIMARY KEY, key BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE sync_point (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, at INTEGER NOT NULL,
    server TEXT NOT NULL);
  PRAGMA user_version = ${RECORDS_VERSION}`;

/**
 * Creates a file under a temporary name, which {@link finishLinksFile} changes. It has no rollback journal: an
 * unfinished file is discarded.
 */
export function createLinksFile(dir: string): LinksFile {
  removeUnfinished(dir);
  // SQLite gives its side files the mode of the main one.
  closeSync(openSync(join(dir, UNFINISHED), 'wx', 0o600));
  const db = new DatabaseSync(join(dir, UNFINISHED));
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; ${SCHEMA}`);
  return linksFile(db, true);
}

/** Closes a new file, syncs it and gives it its name. */
export async function finishLinksFile(dir: string, file: LinksFile): Promise<void> {
  file.close();
  const handle = await open(join(dir, UNFINISHED), 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(join(dir, UNFINISHED), join(dir, LINKS_FILE));
}

/** @returns null when there is no usable file */
export function openLinksFile(dir: string): LinksFile | null {
  const db = openDatabase(dir, { readOnly: false, exclusive: false });
  if (db === null) return null;
  // A power cut can undo the last commits, and their sync point with them.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  return linksFile(db, false);
}

/** @returns null when there is no usable file */
export function openLinksReader(dir: string, exclusive = false): LinksReader | null {
  // A read-only exclusive connection can't recover the log of a killed process (SQLITE_IOERR).
  const db = openDatabase(dir, { readOnly: !exclusive, exclusive });
  if (db === null) return null;
  db.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
  const bySlug = columns(db.prepare('SELECT record FROM records WHERE slug = ?'));
  const page = columns(
    db.prepare(`SELECT ref, record FROM records WHERE ref > ? ORDER BY ref LIMIT ${READ_PAGE}`),
  );
  const others = columns(db.prepare('SELECT record FROM records WHERE other = 1 ORDER BY ref'));
  return {
    find(slug) {
      const row = bySlug.get(slug.toLowerCase()) as [Uint8Array] | undefined;
      return row === undefined ? null : asBuffer(row[0]);
    },
    records: () => paged(page),
    others: () => recordsOf(others),
    keys: keysOf(db),
    close: () => db.close(),
  };
}

/** All links as they were at one commit, while others write. */
export type LinksAtOnce = { syncPoint: SyncPoint; links(): Iterable<Buffer>; close(): void };

/** @returns null when there is no usable file, or one without a sync point */
export function openLinksAtOnce(dir: string): LinksAtOnce | null {
  const db = openDatabase(dir, { readOnly: true, exclusive: false });
  if (db === null) return null;
  db.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}; BEGIN`);
  const syncPoint = syncPointOf(db);
  if (syncPoint === null) {
    db.close();
    return null;
  }
  const page = columns(
    db.prepare(`SELECT ref, record FROM records WHERE ref > ? AND other = 0 ORDER BY ref LIMIT ${READ_PAGE}`),
  );
  return { syncPoint, links: () => paged(page), close: () => db.close() };
}

/** @returns null when there is no file, or one that is no database or has another version */
function openDatabase(
  dir: string,
  { readOnly, exclusive }: { readOnly: boolean; exclusive: boolean },
): DatabaseSync | null {
  const path = join(dir, LINKS_FILE);
  if (!existsSync(path)) return null; // a writer would create one
  const db = new DatabaseSync(path, { readOnly, timeout: readOnly ? 0 : BUSY_MS });
  try {
    if (exclusive) db.exec('PRAGMA locking_mode = EXCLUSIVE');
    const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version === RECORDS_VERSION) return db;
  } catch (error) {
    if (!isDamage(error)) {
      db.close();
      throw error;
    }
  }
  db.close();
  return null;
}

/** Returns all records of a statement that takes the ref before its page. */
function* paged(statement: StatementSync): Generator<Buffer> {
  for (let after = 0; ; ) {
    const rows = statement.all(after) as unknown as [number, Uint8Array][];
    if (rows.length === 0) return;
    for (const [ref, record] of rows) {
      after = ref;
      yield asBuffer(record);
    }
  }
}

function syncPointOf(db: DatabaseSync): SyncPoint | null {
  const [cursor, at, server] = (columns(db.prepare('SELECT cursor, at, server FROM sync_point')).get() ??
    []) as [string?, number?, string?];
  return cursor === undefined || at === undefined || server === undefined ? null : { cursor, at, server };
}

function* recordsOf(statement: StatementSync): Generator<Buffer> {
  for (const [record] of statement.iterate() as Iterable<[Uint8Array]>) yield asBuffer(record);
}

/** @param isNew the file holds only what the present load has put */
function linksFile(db: DatabaseSync, isNew: boolean): LinksFile {
  db.exec(`PRAGMA cache_size = -${WRITER_CACHE_KIB}`);
  const byId = columns(db.prepare('SELECT ref, record FROM records WHERE id = ?'));
  const put = db.prepare(
    'INSERT OR REPLACE INTO records (ref, id, slug, other, record) VALUES (?, ?, ?, ?, ?)',
  );
  const removeHolder = columns(db.prepare('DELETE FROM records WHERE slug = ? AND id <> ? RETURNING ref'));
  const remove = columns(db.prepare('DELETE FROM records WHERE id = ? RETURNING ref'));
  const count = columns(db.prepare('SELECT count(*) FROM records'));
  const refsAfter = columns(
    db.prepare(`SELECT ref, id FROM records WHERE ref > ? ORDER BY ref LIMIT ${PORTION}`),
  );
  const putKey = db.prepare('INSERT OR REPLACE INTO keys (id, key) VALUES (?, ?)');
  const removeKey = db.prepare('DELETE FROM keys WHERE id = ?');
  const putSyncPoint = db.prepare(
    'INSERT OR REPLACE INTO sync_point (one, cursor, at, server) VALUES (1, ?, ?, ?)',
  );
  let open = false;
  let seen = createBitSet();

  /** Starts the transaction that {@link LinksFile.commit} ends, before its first write. */
  function begin(): void {
    if (!open) db.exec('BEGIN IMMEDIATE');
    open = true;
  }

  function unsee(row: unknown): void {
    const [ref] = (row ?? []) as [number?];
    if (ref !== undefined) seen.remove(ref);
  }

  return {
    syncPoint: syncPointOf(db),
    put(record) {
      const id = idOf(record);
      const [ref, before] = (byId.get(id) ?? []) as [number?, Uint8Array?];
      if (ref !== undefined && before !== undefined && record.equals(before)) {
        seen.add(ref);
        return 'same';
      }
      begin();
      const other = kindOf(record) === 'link' ? 0 : 1;
      const slug = recordName(record).toLowerCase();
      // The slug's previous owner; its own change follows. (In a new file REPLACE does this, and no record is unseen.)
      if (!isNew) unsee(removeHolder.get(slug, id));
      const { lastInsertRowid } = put.run(ref ?? null, id, slug, other, record);
      seen.add(Number(lastInsertRowid));
      return ref === undefined ? 'new' : 'changed';
    },
    remove(id) {
      begin();
      unsee(remove.get(id));
    },
    putKey(key) {
      begin();
      putKey.run(uuidToBytes(key.id), encodeKey(key));
    },
    removeKey(id) {
      begin();
      removeKey.run(uuidToBytes(id));
    },
    keys: keysOf(db),
    beginLoad() {
      seen = createBitSet();
    },
    *endLoad() {
      const [total] = count.get() as unknown as [number];
      let rows = [] as [number, Uint8Array][];
      for (let after = 0; seen.size < total; after = rows.at(-1)?.[0] ?? 0) {
        rows = refsAfter.all(after) as unknown as [number, Uint8Array][];
        if (rows.length === 0) return;
        const gone = rows.filter(([ref]) => !seen.has(ref)).map(([, id]) => id);
        begin();
        for (const id of gone) remove.get(id);
        yield gone;
      }
    },
    commit(syncPoint) {
      if (syncPoint !== null) {
        begin();
        putSyncPoint.run(syncPoint.cursor, syncPoint.at, syncPoint.server);
      }
      if (open) db.exec('COMMIT');
      open = false;
    },
    close() {
      try {
        if (open) db.exec('COMMIT');
      } finally {
        open = false;
        db.close();
      }
    },
  };
}

/** Whether the error says that the file is corrupt: SQLITE_CORRUPT or SQLITE_NOTADB. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (error.errcode === 11 || error.errcode === 26);
}

/** Returns a function that reads all keys. */
function keysOf(db: DatabaseSync): () => KnownKey[] {
  const all = columns(db.prepare('SELECT key FROM keys'));
  return () => (all.all() as unknown as [Uint8Array][]).map(([key]) => decodeKey(asBuffer(key)));
}

/** Returns rows as arrays: an object for each row costs more than the lookup. */
function columns(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  return statement;
}
