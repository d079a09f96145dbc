/** What both threads of the table on disk begin with. */
export type DiskThreadData = { databaseUrl: string; dir: string; logLevel: string };

/** `bell`: one `Int32`, counted up behind each message that is posted to the thread. */
export type ReaderData = DiskThreadData & { bell: SharedArrayBuffer };

/** Said by the thread that writes: `tried` once, when it has caught up with PostgreSQL or PostgreSQL does not answer. */
export type FromWriter = Settled | 'tried';

/** Said after each round of changes. */
export type Settled = {
  /** What changed, as frames; empty: nothing. */
  changes: Uint8Array;
  revision: number;
  /** Whether the file can be read. */
  whole: boolean;
  loaded: boolean;
  othersLoaded: boolean;
  /** When the table was last known to be what PostgreSQL says, ms; null while it may lack changes. */
  currentAt: number | null;
};

/** Questions of one turn, asked of the thread that reads. `file`: counted up when there is another file to open. */
export type ToReader = { question: number; file: number; slugs: string[] } | 'stop';
export type FromReader = {
  question: number;
  /** The records as the slugs were asked for; null: the file does not have it. */
  records: (Uint8Array | null)[];
  /** Why nothing could be read: `damaged` when the file's content can't be right. */
  failed?: 'damaged' | 'unreadable';
};
