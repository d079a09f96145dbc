import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { asBuffer } from '../../../core/events/as-buffer.ts';
import { uuidToBytes } from '../../../core/ids.ts';
import { decodeKey, encodeKey, type KnownKey } from '../known-key.ts';
import type { SyncPoint } from '../loader.ts';
import { idOf, kindOf, slugOf } from '../records.ts';
import { createBitSet } from './bit-set.ts';
import { LINKS_FILE, removeUnfinished, UNFINISHED } from './paths.ts';

/**
 * The whole link table in a SQLite file, for deployments with more links than memory. One thread writes it
 * ({@link createLinksFile}, {@link openLinksFile}); the redirects' thread reads what that has committed
 * ({@link openLinksReader}), a few microseconds a link while the system has the file in memory.
 */
export type LinksFile = {
  /** Where PostgreSQL syncPoint when the file was last written; null: never since it was made. */
  readonly syncPoint: SyncPoint | null;
  /** Puts a record in the place of those with its id and its slug. */
  put(record: Buffer): 'same' | 'changed' | 'new';
  remove(id: Uint8Array): void;
  putKey(key: KnownKey): void;
  removeKey(id: string): void;
  keys(): KnownKey[];
  /** Starts a load that covers everything: what is not put until {@link endLoad} is gone then. */
  beginLoad(): void;
  /** Removes what the load did not bring. @returns the ids, in portions that others may run between */
  endLoad(): Generator<Uint8Array[]>;
  /** What was put since the last commit can be read from now on, and outlives this process. */
  commit(syncPoint: SyncPoint | null): void;
  close(): void;
};

export type LinksReader = {
  /** The record of what the slug names, in any case of letters. */
  find(slug: string): Buffer | null;
  /** Pages and programmes. */
  others(): Iterable<Buffer>;
  keys(): KnownKey[];
  close(): void;
};

const VERSION = 2;
/** Pages of the file that a writer holds, KiB. The system's own cache holds the rest. */
const WRITER_CACHE_KIB = 32 * 1024;
const READER_CACHE_KIB = 8 * 1024;
/** Rows looked at in one portion of {@link LinksFile.endLoad}. */
const PORTION = 10_000;
/** A writer waits so long for the reader, milliseconds; a reader, which visitors wait for, does not. */
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
  CREATE TABLE sync_point (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, at INTEGER NOT NULL);
  PRAGMA user_version = ${VERSION}`;

/**
 * Begins a file, under a name that nobody reads until {@link finishLinksFile}: without a journal of its own, because
 * one that was not finished is begun anew.
 */
export function createLinksFile(dir: string): LinksFile {
  removeUnfinished(dir);
  const db = new DatabaseSync(join(dir, UNFINISHED));
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; ${SCHEMA}`);
  return linksFile(db, true);
}

/** Ends the making of a file: it gets its name when the disk has it. The file is closed. */
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

/** @returns null when there is none that this version can use */
export function openLinksFile(dir: string): LinksFile | null {
  const db = openDatabase(dir, false);
  if (db === null) return null;
  // Whatever a power cut takes of the last commits, the syncPoint goes with them.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  return linksFile(db, false);
}

/** @returns null when there is none that this version can use */
export function openLinksReader(dir: string): LinksReader | null {
  const db = openDatabase(dir, true);
  if (db === null) return null;
  db.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
  const bySlug = columns(db.prepare('SELECT record FROM records WHERE slug = ?'));
  const others = columns(db.prepare('SELECT record FROM records WHERE other = 1 ORDER BY ref'));
  return {
    find(slug) {
      const row = bySlug.get(slug.toLowerCase()) as [Uint8Array] | undefined;
      return row === undefined ? null : asBuffer(row[0]);
    },
    *others() {
      for (const [record] of others.iterate() as Iterable<[Uint8Array]>) yield asBuffer(record);
    },
    keys: keysOf(db),
    close: () => db.close(),
  };
}

/** @returns null when there is none, when it is no database, or one of another version */
function openDatabase(dir: string, readOnly: boolean): DatabaseSync | null {
  const path = join(dir, LINKS_FILE);
  if (!existsSync(path)) return null; // a writer would make one
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path, { readOnly, timeout: readOnly ? 0 : BUSY_MS });
    const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version !== VERSION) throw new Error(`version ${version}`);
    return db;
  } catch {
    if (db?.isOpen) db.close();
    return null;
  }
}

/** @param isNew nothing stands in it but what the present load brings */
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
  const stand = db.prepare('INSERT OR REPLACE INTO sync_point (one, cursor, at) VALUES (1, ?, ?)');
  const [cursor, at] = (columns(db.prepare('SELECT cursor, at FROM sync_point')).get() ?? []) as [
    string?,
    number?,
  ];
  let open = false;
  let seen = createBitSet();

  /** Before the first write of a transaction, which ends with {@link LinksFile.commit}. */
  function begin(): void {
    if (!open) db.exec('BEGIN IMMEDIATE');
    open = true;
  }

  function unsee(row: unknown): void {
    const [ref] = (row ?? []) as [number?];
    if (ref !== undefined) seen.remove(ref);
  }

  return {
    syncPoint: cursor === undefined || at === undefined ? null : { cursor, at },
    put(record) {
      const id = idOf(record);
      const [ref, before] = (byId.get(id) ?? []) as [number?, Uint8Array?];
      if (ref !== undefined && before !== undefined && record.equals(before)) {
        seen.add(ref);
        return 'same';
      }
      begin();
      const other = kindOf(record) === 'link' ? 0 : 1;
      const slug = slugOf(record).toLowerCase();
      // Whoever had the slug before: its own change is on its way. (In a new file REPLACE does it, and nothing is unseen.)
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
        stand.run(syncPoint.cursor, syncPoint.at);
      }
      if (open) db.exec('COMMIT');
      open = false;
    },
    close() {
      if (open) db.exec('COMMIT');
      open = false;
      db.close();
    },
  };
}

/** Whether SQLite says that the file's content can't be right: SQLITE_CORRUPT or SQLITE_NOTADB. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (error.errcode === 11 || error.errcode === 26);
}

/** Reads all keys whenever it is called. */
function keysOf(db: DatabaseSync): () => KnownKey[] {
  const all = columns(db.prepare('SELECT key FROM keys'));
  return () => (all.all() as unknown as [Uint8Array][]).map(([key]) => decodeKey(asBuffer(key)));
}

/** Rows as arrays: an object for each costs more than the look-up. */
function columns(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  return statement;
}
