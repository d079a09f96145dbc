import { freeBytes } from '../../../core/tier/free-bytes.ts';
import type { Logger } from '../../../core/tier/log.ts';
import { changeFrame } from '../change-frames.ts';
import type { SyncPoint } from '../loader.ts';
import { kindOf } from '../records.ts';
import type { TableSink } from '../table-writer.ts';
import { createLinksFile, finishLinksFile, isDamage, type LinksFile, openLinksFile } from './links-file.ts';
import { removeLinksFile, removeUnfinished } from './paths.ts';

/**
 * Writes the table to its file, and collects the changes that the redirects' thread must apply.
 *
 * Memory that holds all links but referral links is a replica: it gets every change. Otherwise it gets every page,
 * program and key, and the links that changed, of which it may hold an older version.
 *
 * The volume is shared with the journal, and clicks come first: after a failed write the file is not written again.
 */
export type DiskSink = TableSink & {
  /** The sync point of the file when it was opened; null for a new file. */
  readonly syncPoint: SyncPoint | null;
  /** Whether the file is complete. */
  whole(): boolean;
  /** Returns the changes since the last call as frames. Post them after `settle`. */
  takeChanges(): Buffer;
  close(): void;
};

/** Bytes of the volume that a new file with more links than memory leaves free. */
const LEAST_FREE = 512 * 2 ** 20;
/** Interval of writes that only move the sync point, ms. */
const SYNC_POINT_EVERY_MS = 60_000;

/**
 * @param given.memoryHoldsAll the file serves starts and first visits of referral links. A file that the disk refuses
 * stays for the next start, with its older sync point
 * @param given.onGivenUp called when the file is no longer written; `damaged`: its content is corrupt
 */
export function createDiskSink(given: {
  dir: string;
  log: Logger;
  memoryHoldsAll: boolean;
  onGivenUp(damaged: boolean): void;
  leastFree?: number;
}): DiskSink {
  const { dir, log, memoryHoldsAll, onGivenUp, leastFree = memoryHoldsAll ? 0 : LEAST_FREE } = given;
  let whole = true;
  let file: LinksFile | null = null;
  let changes: Buffer[] = [];
  /** Whether the next records changed in PostgreSQL just now: readers may hold older versions. */
  let changing = false;
  let written = false;
  let syncPointAt = 0;

  function giveUp(error: unknown): void {
    log.error({ err: error, dir }, 'link table: failed to write the file on disk; continuing without it');
    whole = false;
    const former = file;
    file = null;
    const remove = !memoryHoldsAll || isDamage(error) ? removeLinksFile : removeUnfinished;
    for (const clear of [() => former?.close(), () => remove(dir)]) {
      try {
        clear();
      } catch {
        // Logged above.
      }
    }
    onGivenUp(isDamage(error));
  }

  /** @returns undefined without a file */
  function attempt<T>(work: (file: LinksFile) => T): T | undefined {
    if (file === null) return undefined;
    try {
      return work(file);
    } catch (error) {
      giveUp(error);
      return undefined;
    }
  }

  async function requireRoom(): Promise<void> {
    const free = await freeBytes(dir);
    if (free < leastFree) giveUp(new Error(`${free} bytes free on the volume, at least ${leastFree} needed`));
  }

  async function finish(): Promise<void> {
    if (file === null) return;
    try {
      await finishLinksFile(dir, file);
      file = openLinksFile(dir);
      if (file === null) throw new Error('the new file can’t be opened');
      whole = true;
    } catch (error) {
      giveUp(error);
    }
  }

  try {
    file = openLinksFile(dir);
    if (file === null) {
      whole = false;
      removeLinksFile(dir);
      file = createLinksFile(dir);
    }
  } catch (error) {
    giveUp(error);
  }

  return {
    syncPoint: file?.syncPoint ?? null,
    whole: () => whole,
    put(record) {
      const effect = attempt((open) => open.put(record)) ?? 'new';
      if (effect !== 'same') written = true;
      const readerLacksIt =
        changing || effect === 'changed' || (effect === 'new' && kindOf(record) !== 'link');
      if (memoryHoldsAll || readerLacksIt) changes.push(changeFrame.put(record));
    },
    remove(id) {
      attempt((open) => open.remove(id));
      written = true;
      changes.push(changeFrame.remove(id));
    },
    putKey(key) {
      attempt((open) => open.putKey(key));
      changes.push(changeFrame.putKey(key));
    },
    removeKey(id) {
      attempt((open) => open.removeKey(id));
      changes.push(changeFrame.removeKey(id));
    },
    keys: () => attempt((open) => open.keys()) ?? [],
    beginLoad() {
      attempt((open) => open.beginLoad());
      if (memoryHoldsAll) changes.push(changeFrame.beginLoad());
    },
    async endLoad() {
      if (memoryHoldsAll) changes.push(changeFrame.endLoad());
      const gone = attempt((open) => open.endLoad());
      for (;;) {
        const portion = attempt(() => gone?.next());
        if (portion === undefined || portion.done) break;
        for (const id of portion.value) changes.push(changeFrame.remove(id));
        await new Promise(setImmediate);
      }
      if (!whole) await finish();
    },
    beginChanges() {
      changing = true;
    },
    async settle(syncPoint) {
      const due = whole && (written || Date.now() - syncPointAt > SYNC_POINT_EVERY_MS) ? syncPoint : null;
      attempt((open) => open.commit(due));
      if (due !== null) syncPointAt = due.at;
      changing = false;
      written = false;
      if (!whole && file !== null) await requireRoom();
    },
    takeChanges() {
      const bytes = Buffer.concat(changes);
      changes = [];
      return bytes;
    },
    close() {
      attempt((open) => open.close());
    },
  };
}
