import { asBuffer } from '../../../core/events/as-buffer.ts';
import { startLastingThread } from '../../../core/tier/lasting-thread.ts';
import type { Logger } from '../../../core/tier/log.ts';
import { changing } from '../change-frames.ts';
import { takeFrames } from '../frames.ts';
import type { Followed } from '../loader.ts';
import { kindOf } from '../records.ts';
import type { LinkTable } from '../table.ts';
import { startDiskReader } from './disk-reader.ts';
import { isDamage, openLinksReader } from './links-file.ts';
import type { DiskThreadData, FromWriter, Settled } from './messages.ts';
import { removeLinksFile } from './paths.ts';

/**
 * All links on disk, behind a table in memory that holds those that visitors want. One thread follows PostgreSQL into
 * the file and tells what changed; another reads the file when memory does not have a link.
 *
 * What was read may be older than a change that was told meanwhile: {@link DiskTable.version} says whether it may stay in
 * memory. Each change is told after it was written.
 */
export type DiskTable = Followed & {
  /**
   * The records of what slugs name, in any case of letters, by slug; those that the file does not have are missing.
   *
   * @throws Error when it can't be read
   */
  find(slugs: string[]): Promise<Map<string, Buffer>>;
  /** Counts what memory was told of changes: a record that was read before the last one may be outdated. */
  version(): number;
  /** Whether there is a whole file to ask. */
  whole(): boolean;
  /** Whether visitors can be answered: by the file or, as long as it is being made, by PostgreSQL. */
  ready(): boolean;
  /** Resolves when the table is what PostgreSQL says for the first time, or when PostgreSQL does not answer. */
  readonly tried: Promise<void>;
  /** Slugs looked for on disk so far. */
  reads(): number;
  close(): Promise<void>;
};

const WRITER = new URL('./writer-thread.ts', import.meta.url);
/** A thread that waits for PostgreSQL or for the disk is not waited for longer. */
const STOP_MS = 1_000;

/** @param given.dir of the links' file */
export function openDiskTable(given: {
  databaseUrl: string;
  dir: string;
  table: LinkTable;
  log: Logger;
}): DiskTable {
  const { databaseUrl, dir, table, log } = given;
  const workerData: DiskThreadData = { databaseUrl, dir, logLevel: log.level };
  const openedAt = performance.now();
  let version = 0;
  let whole = false;
  /** Counts the files that there have been to read. */
  let file = 0;
  let ready = false;
  /** The file's content can't be right: it is to be removed when nobody writes it any more. */
  let damaged = false;
  let said: Settled | null = null;
  /** The thread that wrote the file has died: it may have written what it has not told. */
  let untold = false;
  /** Writers so far. */
  let generation = 1;
  let heardAt = Number.NEGATIVE_INFINITY;
  const tried = Promise.withResolvers<void>();

  /** Takes pages, programmes and keys from the file into memory, in the place of all that is there. */
  function takeOver(): void {
    const kept = openLinksReader(dir);
    whole = kept !== null;
    if (kept === null) return;
    file++;
    version++;
    try {
      table.beginLoad();
      for (const record of kept.others()) table.put(record);
      // Links go too: they are read again when they are wanted.
      for (const _ of table.endLoad());
      const keys = new Map(kept.keys().map((key) => [key.id, key]));
      for (const { id } of [...table.keys()]) if (!keys.has(id)) table.removeKey(id);
      for (const key of keys.values()) table.putKey(key);
    } finally {
      kept.close();
    }
    ready = true;
  }

  function forgetLinks(): void {
    version++;
    table.beginLoad();
    for (const record of table.records()) if (kindOf(record) !== 'link') table.put(record);
    for (const _ of table.endLoad());
  }

  function hear(message: FromWriter): void {
    if (message === 'tried') {
      tried.resolve();
      return;
    }
    const { changes } = message;
    heardAt = Date.now();
    if (damaged) return; // it is being ended
    said = message;
    if (changes.length > 0) version++;
    takeFrames(asBuffer(changes), changing(table, table.refresh));
    if (!message.whole) {
      // Nobody compares what was read from a file that is gone with PostgreSQL.
      if (whole || untold) forgetLinks();
      whole = false;
    } else if (!whole || untold) {
      try {
        takeOver();
        log.info(
          { whole, seconds: Math.round((performance.now() - openedAt) / 1_000) },
          'link table: on disk',
        );
      } catch (error) {
        unreadable(error);
      }
    }
    untold = false;
    ready ||= message.othersLoaded;
  }

  function unreadable(error: unknown): void {
    log.error({ err: error, dir }, 'link table: the file on disk can’t be read');
    if (isDamage(error)) beginAnew();
  }

  /** The file goes when nobody writes it any more; the next thread makes another. */
  function beginAnew(): void {
    whole = false;
    if (writer.end()) damaged = true;
    else removeLinksFile(dir);
  }

  try {
    takeOver();
  } catch (error) {
    log.error({ err: error, dir }, 'link table: the file on disk can’t be read, another one is made');
    removeLinksFile(dir);
    whole = false;
  }
  log.info({ whole }, 'link table: on disk');
  const writer = startLastingThread<'stop', FromWriter>({
    url: WRITER,
    workerData,
    name: 'the link table',
    log,
    onMessage: hear,
    onDeath() {
      said = null;
      generation++;
      untold = true;
      if (damaged) removeLinksFile(dir);
      damaged = false;
    },
  });
  const reader = startDiskReader(workerData, log, (spoilt) => {
    if (spoilt === file && !damaged) beginAnew();
  });

  return {
    find: (slugs) => reader.find(file, slugs),
    version: () => version,
    whole: () => whole,
    ready: () => ready,
    reads: reader.reads,
    loaded: () => said?.loaded ?? false,
    age: () => Date.now() - (said?.currentAt ?? Number.NEGATIVE_INFINITY),
    silence: () => Date.now() - heardAt,
    tried: tried.promise,
    // NaN equals nothing: while nobody follows PostgreSQL, no answer may stay in memory.
    rounds: () => (said === null ? Number.NaN : generation * 2 ** 32 + said.rounds),
    async close() {
      await Promise.all([writer.stop('stop', STOP_MS), reader.stop(STOP_MS)]);
    },
  };
}
