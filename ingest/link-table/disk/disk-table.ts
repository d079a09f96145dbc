import { asBuffer } from '../../../core/events/as-buffer.ts';
import type { Logger } from '../../../core/tier/log.ts';
import { startRestartingThread } from '../../../core/tier/restarting-thread.ts';
import { createFrameApplier } from '../change-frames.ts';
import { decodeFrames } from '../frames.ts';
import type { SyncStatus } from '../loader.ts';
import { isReferralLink, kindOf } from '../records.ts';
import type { LinkTable } from '../table.ts';
import { startDiskReader } from './disk-reader.ts';
import { isDamage, openLinksReader } from './links-file.ts';
import type { DiskThreadData, FromWriter, LinkSources, Settled, WriterData } from './messages.ts';
import { removeLinksFile } from './paths.ts';

/**
 * All links on disk. A writer thread replicates PostgreSQL into the file and posts the changes.
 *
 * Memory holds either all links, read from the file at the start and from then on updated by the posted changes, or
 * those that visitors use. Referral links, which strangers can make in any number, enter memory at their first visit in
 * either case. A reader thread reads what memory lacks from the file. A record that was read may be older than
 * a change that was posted meanwhile: {@link DiskTable.version} tells whether it may stay in memory. Each change is
 * posted after it was written.
 */
export type DiskTable = SyncStatus & {
  /**
   * Returns the records that the slugs name, in any case of letters, by slug. Slugs that the file lacks are missing.
   *
   * @throws Error when the file can't be read
   */
  find(slugs: string[]): Promise<Map<string, Buffer>>;
  /** Counts applied changes: a record read before the last one may be outdated. */
  version(): number;
  /** Whether the file is complete. */
  whole(): boolean;
  /** Whether the complete file may have links that memory lacks. */
  hasMore(): boolean;
  /** Whether visitors can be served: from memory, from the file or, while these are being filled, from PostgreSQL. */
  ready(): boolean;
  /** Resolves once the table equals PostgreSQL for the first time, or when PostgreSQL does not respond. */
  readonly tried: Promise<void>;
  /** Slugs looked up on disk so far. */
  reads(): number;
  /** How often the disk refused to read or write the file. */
  failures(): number;
  close(): Promise<void>;
};

const WRITER = new URL('./writer-thread.ts', import.meta.url);
/** Limit of the wait for a thread that waits for PostgreSQL or for the disk. */
const STOP_MS = 1_000;

/**
 * Opens the table in `dir` and starts its threads.
 *
 * @param given.memoryHoldsAll `table` gets all links, else pages, programs and keys
 */
export function openDiskTable(given: {
  sources: LinkSources;
  dir: string;
  table: LinkTable;
  memoryHoldsAll: boolean;
  log: Logger;
}): DiskTable {
  const { sources, dir, table, memoryHoldsAll, log } = given;
  const threadData: DiskThreadData = { dir, logLevel: log.level };
  const openedAt = performance.now();
  /** Whether a referral link was left out of memory. */
  let leftOut = false;
  const putUnlessReferral = (record: Buffer) => {
    if (!isReferralLink(record)) return void table.put(record);
    leftOut = true;
    table.refresh(record);
  };
  const apply = createFrameApplier(table, memoryHoldsAll ? putUnlessReferral : table.refresh);
  let version = 0;
  let whole = false;
  /** Number of the current file, for the reader. */
  let file = 0;
  let ready = false;
  /** The file is corrupt: remove it once its writer has ended. */
  let damaged = false;
  let lastMessage: Settled | null = null;
  /** The writer died: it may have written changes that it did not post. */
  let mayLackChanges = false;
  /** Writer threads so far. */
  let generation = 1;
  let failures = 0;
  let lastMessageAt = Number.NEGATIVE_INFINITY;
  const tried = Promise.withResolvers<void>();

  /** Replaces the content of memory by the file's: all of it, or pages, programs and keys. */
  function readFile(): void {
    const reader = openLinksReader(dir, memoryHoldsAll);
    whole = reader !== null;
    if (reader === null) return;
    file++;
    version++;
    try {
      table.beginLoad();
      for (const record of memoryHoldsAll ? reader.records() : reader.others()) putUnlessReferral(record);
      // This also removes the links that visitors read from the file; the next visit reads them again.
      for (const _ of table.endLoad());
      const keys = new Map(reader.keys().map((key) => [key.id, key]));
      for (const { id } of [...table.keys()]) if (!keys.has(id)) table.removeKey(id);
      for (const key of keys.values()) table.putKey(key);
    } finally {
      reader.close();
    }
    ready = true;
  }

  function dropLinks(): void {
    version++;
    table.beginLoad();
    for (const record of table.records()) if (kindOf(record) !== 'link') table.put(record);
    for (const _ of table.endLoad());
  }

  function receive(message: FromWriter): void {
    if (message === 'tried') tried.resolve();
    else if (message === 'refused') failures++;
    else settle(message);
  }

  function settle(message: Settled): void {
    lastMessageAt = Date.now();
    if (damaged) return; // the writer is being ended
    lastMessage = message;
    const { changes } = message;
    if (changes.length > 0) version++;
    decodeFrames(asBuffer(changes), apply);
    if (memoryHoldsAll) noteWhole(message.whole);
    else followFile(message.whole);
    mayLackChanges = false;
    ready ||= message.othersLoaded;
  }

  function noteWhole(isWhole: boolean): void {
    if (isWhole && !whole) {
      file++;
      version++;
      logWhole();
    }
    whole = isWhole;
  }

  /** Keeps what memory holds of a file consistent with it. */
  function followFile(isWhole: boolean): void {
    if (!isWhole) {
      // Links that were read from a removed file would never be updated.
      if (whole || mayLackChanges) dropLinks();
      whole = false;
    } else if (!whole || mayLackChanges) {
      try {
        readFile();
        logWhole();
      } catch (error) {
        log.error({ err: error, dir }, 'link table: failed to read the file on disk');
        if (isDamage(error)) replaceFile();
      }
    }
  }

  function logWhole(): void {
    const seconds = Math.round((performance.now() - openedAt) / 1_000);
    log.info({ seconds }, 'link table: the file on disk is complete');
  }

  /** Removes the file once nothing writes it; the next writer makes another. */
  function replaceFile(): void {
    whole = false;
    if (writer.end()) damaged = true;
    else removeLinksFile(dir);
  }

  try {
    readFile();
  } catch (error) {
    failures++;
    whole = false;
    const remove = !memoryHoldsAll || isDamage(error);
    log.error({ err: error, dir, removed: remove }, 'link table: failed to read the file on disk');
    if (remove) removeLinksFile(dir);
  }
  log.info({ whole, slugs: table.size() }, 'link table: opened');
  const writer = startRestartingThread<'stop', FromWriter>({
    url: WRITER,
    workerData: {
      ...threadData,
      sources,
      memoryHoldsAll,
      lives: new SharedArrayBuffer(4),
    } satisfies WriterData,
    name: 'the link table',
    log,
    onMessage: receive,
    onDeath() {
      lastMessage = null;
      generation++;
      mayLackChanges = true;
      if (damaged) removeLinksFile(dir);
      damaged = false;
    },
  });
  const startReader = () =>
    startDiskReader(threadData, log, (damagedFile) => {
      if (damagedFile === file && !damaged) replaceFile();
    });
  // When memory holds all but referral links, the first visit of a referral link starts the reader.
  let reader = memoryHoldsAll ? null : startReader();

  return {
    async find(slugs) {
      reader ??= startReader();
      return reader.find(file, slugs);
    },
    version: () => version,
    whole: () => whole,
    hasMore: () => whole && (!memoryHoldsAll || leftOut),
    ready: () => ready,
    reads: () => reader?.reads() ?? 0,
    failures: () => failures,
    loaded: () => lastMessage?.loaded ?? false,
    age: () => Date.now() - (lastMessage?.currentAt ?? Number.NEGATIVE_INFINITY),
    silence: () => Date.now() - lastMessageAt,
    tried: tried.promise,
    // NaN equals nothing: without a writer no response of PostgreSQL may stay in memory.
    revision: () => (lastMessage === null ? Number.NaN : generation * 2 ** 32 + lastMessage.revision),
    async close() {
      await Promise.all([writer.stop('stop', STOP_MS), reader?.stop(STOP_MS)]);
    },
  };
}
