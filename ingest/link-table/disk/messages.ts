import type { S3Settings } from '../../../core/settings/config.ts';

/** The data with which both threads of the table on disk start. */
export type DiskThreadData = {
  dir: string;
  logLevel: string;
};

/** What links are read from. */
export type LinkSources = {
  databaseUrl: string;
  /** Past a pooler, for notifications. */
  databaseDirectUrl: string;
  /** A replica; empty: none. */
  databaseReadUrl: string;
  /** Where a snapshot of all links is, and the deployment's secret; null: nowhere. */
  snapshot: { to: string; s3: S3Settings; secret: Uint8Array } | null;
};

export type WriterData = DiskThreadData & {
  sources: LinkSources;
  /** Memory holds every link, not only those that visitors use. */
  memoryHoldsAll: boolean;
  /** One `Int32`: threads that have started so far. A thread that died may have written what it did not post. */
  lives: SharedArrayBuffer;
};

/** `bell`: one `Int32`, incremented after each message posted to the thread. */
export type ReaderData = DiskThreadData & { bell: SharedArrayBuffer };

/**
 * Messages of the writer thread. `tried` comes once: the table is current, or PostgreSQL is down. `refused`: the file
 * can't be read or written.
 */
export type FromWriter = Settled | 'tried' | 'refused';

/** Posted after each run of changes. */
export type Settled = {
  /** The changes as frames; empty when there are none. */
  changes: Uint8Array;
  revision: number;
  /** Whether the file is complete. */
  whole: boolean;
  loaded: boolean;
  othersLoaded: boolean;
  /** When the table was last known to equal PostgreSQL, ms; null while it may lack changes. */
  currentAt: number | null;
};

/** Slugs to look up in one batch. `file` changes when there is another file to open. */
export type ToReader = { query: number; file: number; slugs: string[] } | 'stop';
export type FromReader = {
  query: number;
  /** The records in the order of the slugs; null where the file has none. */
  records: (Uint8Array | null)[];
  /** Why nothing could be read; `damaged`: the file's content is corrupt. */
  failed?: 'damaged' | 'unreadable';
};
