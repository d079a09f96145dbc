import { freeBytes } from '../../../core/tier/free-bytes.ts';
import type { Logger } from '../../../core/tier/log.ts';
import { changeFrame } from '../change-frames.ts';
import type { SyncPoint } from '../loader.ts';
import { kindOf } from '../records.ts';
import type { TableSink } from '../table-writer.ts';
import { createLinksFile, finishLinksFile, isDamage, type LinksFile, openLinksFile } from './links-file.ts';
import { removeLinksFile } from './paths.ts';

/**
 * The table on disk, as the thread that follows PostgreSQL writes it, and what the redirects' thread must hear of it:
 * every page, programme and key, and of the links those that changed, because it may hold an older one.
 *
 * The volume is the journal's too, and clicks come first: when the file can't be written it is removed, and changes
 * are told without it.
 */
export type DiskSink = TableSink & {
  /** Where the file syncPoint when it was opened; null: it is being made. */
  readonly syncPoint: SyncPoint | null;
  /** Whether there is a whole file to read. */
  whole(): boolean;
  /** The changes since this was asked the last time, as frames. To be told after they were settled. */
  changes(): Buffer;
  close(): void;
};

/** What a file that is being made leaves free of the volume, bytes. */
const LEAST_FREE = 512 * 2 ** 20;
/** A syncPoint that alone changes is written this often, milliseconds. */
const SYNC_POINT_EVERY_MS = 10_000;

/** @param given.onGivenUp called when the file is given up; `damaged`: its content can't be right, else room is missing */
export function createDiskSink(given: {
  dir: string;
  log: Logger;
  onGivenUp(damaged: boolean): void;
  leastFree?: number;
}): DiskSink {
  const { dir, log, onGivenUp, leastFree = LEAST_FREE } = given;
  let whole = true;
  let file: LinksFile | null = null;
  let told: Buffer[] = [];
  /** Whether what is put has just changed in PostgreSQL, so that whoever has asked it before may hold an older one. */
  let changing = false;
  let written = false;
  let syncPointAt = 0;

  function giveUp(error: unknown): void {
    log.error({ err: error, dir }, 'link table: can’t be kept on disk; PostgreSQL is asked instead');
    whole = false;
    const former = file;
    file = null;
    for (const clear of [() => former?.close(), () => removeLinksFile(dir)]) {
      try {
        clear();
      } catch {
        // Said above: whatever is in the way stays.
      }
    }
    onGivenUp(isDamage(error));
  }

  /** @returns undefined when there is no file, or none any more */
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
    if (free < leastFree) giveUp(new Error(`${free} bytes free`));
  }

  async function finish(): Promise<void> {
    if (file === null) return;
    try {
      await finishLinksFile(dir, file);
      file = openLinksFile(dir);
      if (file === null) throw new Error('the file that was made can’t be opened');
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
      if (changing || effect === 'changed' || (effect === 'new' && kindOf(record) !== 'link')) {
        told.push(changeFrame.put(record));
      }
    },
    remove(id) {
      attempt((open) => open.remove(id));
      written = true;
      told.push(changeFrame.remove(id));
    },
    putKey(key) {
      attempt((open) => open.putKey(key));
      told.push(changeFrame.putKey(key));
    },
    removeKey(id) {
      attempt((open) => open.removeKey(id));
      told.push(changeFrame.removeKey(id));
    },
    keys: () => attempt((open) => open.keys()) ?? [],
    beginLoad() {
      attempt((open) => open.beginLoad());
    },
    async endLoad() {
      const gone = attempt((open) => open.endLoad());
      for (;;) {
        const portion = attempt(() => gone?.next());
        if (portion === undefined || portion.done) break;
        for (const id of portion.value) told.push(changeFrame.remove(id));
        await new Promise(setImmediate);
      }
      if (!whole) await finish();
    },
    beginChanges() {
      changing = true;
    },
    async settle(syncPoint) {
      const stand = whole && (written || Date.now() - syncPointAt > SYNC_POINT_EVERY_MS) ? syncPoint : null;
      attempt((open) => open.commit(stand));
      if (stand !== null) syncPointAt = stand.at;
      changing = false;
      written = false;
      if (!whole && file !== null) await requireRoom();
    },
    changes() {
      const bytes = Buffer.concat(told);
      told = [];
      return bytes;
    },
    close() {
      attempt((open) => open.close());
    },
  };
}
