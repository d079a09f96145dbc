import { closeSync, openSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { changeFrame, changing } from './change-frames.ts';
import { readFrames } from './frames.ts';
import type { KnownKey } from './known-key.ts';
import type { SyncPoint } from './loader.ts';
import type { LinkTable } from './table.ts';

/**
 * The table on disk, so that ingest starts while PostgreSQL is down. `table-<n>.snapshot` is the whole table, written
 * beside the running one and renamed when complete; `table-<m>.changes` with m ≥ n are the changes since it was begun.
 * A snapshot may hold some of those changes already: repeating them in order ends in the same state.
 *
 * Nothing is synced but snapshots: a power cut loses the last changes, and the load at the next start brings them. Between
 * changes it says where the table stands, so that a start need not wait for that load to know what was deleted meanwhile.
 */
export type SnapshotFiles = {
  /** Fills the table. @returns whether there was a whole snapshot */
  load(): Promise<boolean>;
  /** Where the table syncPoint that was loaded; null: not known. */
  syncPoint(): SyncPoint | null;
  notePut(record: Uint8Array): void;
  noteRemoved(id: Uint8Array): void;
  noteKey(key: KnownKey): void;
  noteKeyRemoved(key: KnownKey): void;
  /** Where the table stands with all that was noted: kept with changes, and by itself now and then. */
  noteSyncPoint(syncPoint: SyncPoint): void;
  /** Notes nothing until the next snapshot: for a load that will be syncStatus by one. */
  pause(): void;
  /** The table has all rows now: writes it whole, now or, when the disk refuses it, later. Changes may go on meanwhile. */
  completed(): Promise<void>;
  /** Tries again what the disk has refused, and writes a snapshot when the changes have outgrown the last one. */
  compact(): Promise<void>;
  /** How often the disk has refused something. The table follows PostgreSQL all the same. */
  failures(): number;
  close(): Promise<void>;
};

const FILE = /^table-(\d+)\.(snapshot|changes)$/;
/** A snapshot that was not finished: as large as the table, on the volume of the journal. */
const UNFINISHED = /^table-\d+\.snapshot\.new$/;
/** Below this many bytes of changes a snapshot is not worth it. */
const LEAST_CHANGES = 8 * 2 ** 20;
const PORTION = 2 ** 20;
/** How long changes are gathered before they are written. */
const GATHER_MS = 50;
/** A syncPoint that alone changes is noted this often, milliseconds. */
const SYNC_POINT_EVERY_MS = 10_000;
/** The disk is asked again so long after it has refused changes. */
const APPEND_AGAIN_MS = 1_000;
/** A snapshot that was refused has filled the volume meanwhile, which is the journal's too. */
const SNAPSHOT_AGAIN_MS = 10 * 60_000;
/** So many bytes of changes are held for a disk that refuses them; then only a snapshot helps. */
const MOST_PENDING = LEAST_CHANGES;

/** Removes them all: of a table that is kept another way by now. */
export async function removeSnapshotFiles(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (FILE.test(name) || UNFINISHED.test(name)) await rm(join(dir, name), { force: true });
  }
}

export function createSnapshotFiles(given: {
  dir: string;
  table: LinkTable;
  log: Logger;
  leastChanges?: number;
  snapshotAgainMs?: number;
}): SnapshotFiles {
  const { dir, table, log, leastChanges = LEAST_CHANGES, snapshotAgainMs = SNAPSHOT_AGAIN_MS } = given;
  let number = 0;
  let changes: FileHandle | null = null;
  let changesBytes = 0;
  /** What stands behind these bytes could not be taken away: the next changes need a new file. */
  let torn = false;
  let snapshotBytes = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let syncPoint: SyncPoint | null = null;
  /** Whether the last syncPoint that was noted tells less than the files hold by now. */
  let syncPointOwed = true;
  let syncPointAt = 0;
  let paused = false;
  let flushing: Promise<void> | null = null;
  /** Ends the present gathering. */
  let hurry = () => {};
  /** Whether the table has all rows: a snapshot of less would be taken for the whole at the next start. */
  let complete = false;
  /** The files lack changes, or a snapshot was refused. */
  let snapshotOwed = false;
  let appendAgainAt = Number.NEGATIVE_INFINITY;
  let snapshotAgainAt = Number.NEGATIVE_INFINITY;
  let refusing = false;
  let failures = 0;

  async function numbers(kind: 'snapshot' | 'changes'): Promise<number[]> {
    const found: number[] = [];
    for (const name of await readdir(dir)) {
      const match = FILE.exec(name);
      if (match?.[2] === kind) found.push(Number(match[1]));
    }
    return found.sort((a, b) => a - b);
  }
  const path = (n: number, kind: string) => join(dir, `table-${n}.${kind}`);

  function replay(file: string): { bytes: number; whole: boolean } {
    const fd = openSync(file, 'r');
    try {
      const stand = (syncPoint: SyncPoint) => {
        syncPoint = syncPoint;
      };
      return readFrames(fd, changing(table, table.put, stand));
    } finally {
      closeSync(fd);
    }
  }

  /** A new file each time: nothing is ever written behind a torn frame. */
  async function startChanges(): Promise<void> {
    const before = changes;
    number += 1;
    changes = await open(path(number, 'changes'), 'a', 0o600);
    changesBytes = 0;
    torn = false;
    await before?.close();
  }

  function note(frame: Buffer): void {
    if (paused) return;
    pending.push(frame);
    pendingBytes += frame.length;
    syncPointOwed = true;
    if (pendingBytes > MOST_PENDING && refusing) forgetPending();
    else flushWhenDue();
  }

  /** From here on the files stand still: changes that follow a hole would make a state that never was. */
  function forgetPending(): void {
    pending = [];
    pendingBytes = 0;
    paused = true;
    snapshotOwed = true;
  }

  function flushWhenDue(): void {
    if (pending.length > 0 && performance.now() >= appendAgainAt) flushing ??= flushSoon();
  }

  /** Resolves when changes have been gathered for long enough, or at once when nobody may wait. */
  function gathered(): Promise<void> {
    return new Promise((resolve) => {
      hurry = resolve;
      setTimeout(resolve, GATHER_MS);
    });
  }

  async function flushSoon(): Promise<void> {
    await gathered();
    try {
      while (pending.length > 0 && changes !== null) await append();
    } catch (error) {
      failures += 1;
      if (!refusing) log.error({ err: error, dir }, 'link table: changes can not be kept on disk');
      refusing = true;
      appendAgainAt = performance.now() + APPEND_AGAIN_MS;
    } finally {
      flushing = null;
    }
  }

  /** Writes what is pending, which stays so when it fails: frames behind a torn one would never be read. */
  async function append(): Promise<void> {
    if (torn) await startChanges();
    if (changes === null) return;
    const frames = pending.length;
    const bytes = Buffer.concat(pending);
    try {
      await changes.appendFile(bytes);
    } catch (error) {
      torn = true;
      await changes.truncate(changesBytes);
      torn = false;
      throw error;
    }
    changesBytes += bytes.length;
    // None when they were forgotten meanwhile.
    pending = pending.slice(frames);
    pendingBytes = pending.reduce((sum, { length }) => sum + length, 0);
    if (refusing) log.info({ dir }, 'link table: changes are kept on disk again');
    refusing = false;
  }

  async function writeAll(file: FileHandle): Promise<number> {
    let bytes = 0;
    let portion: Buffer[] = [];
    let size = 0;
    const write = async () => {
      await file.appendFile(Buffer.concat(portion));
      bytes += size;
      portion = [];
      size = 0;
    };
    const add = async (frame: Buffer) => {
      portion.push(frame);
      size += frame.length;
      if (size >= PORTION) await write();
    };
    for (const record of table.records()) await add(changeFrame.put(record));
    for (const key of [...table.keys()]) await add(changeFrame.putKey(key));
    await write();
    return bytes;
  }

  /** A new change file between two writes of changes. */
  async function cutChanges(): Promise<number> {
    hurry();
    while (flushing !== null) await flushing;
    const cut = startChanges();
    flushing = cut
      .catch(() => {}) // told by whoever waits for `cut`
      .finally(() => {
        flushing = null;
        flushWhenDue();
      });
    await cut;
    return number;
  }

  async function writeSnapshot(): Promise<void> {
    const stoodStill = paused;
    try {
      const own = await cutChanges();
      paused = false;
      await writeWhole(own);
      for (const kind of ['snapshot', 'changes'] as const) {
        for (const old of await numbers(kind)) if (old < own) await rm(path(old, kind), { force: true });
      }
    } catch (error) {
      if (stoodStill) forgetPending();
      throw error;
    }
  }

  async function writeWhole(own: number): Promise<void> {
    const temporary = path(own, 'snapshot.new');
    try {
      const file = await open(temporary, 'w', 0o600);
      try {
        snapshotBytes = await writeAll(file);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path(own, 'snapshot'));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Never fails: a table that can't be kept is syncStatus all the same. */
  async function trySnapshot(): Promise<void> {
    snapshotOwed = true;
    if (performance.now() < snapshotAgainAt) return;
    try {
      await writeSnapshot();
      syncPointOwed = true; // what had told it is gone
      snapshotOwed = paused; // it stands still again when changes were refused meanwhile
    } catch (error) {
      failures += 1;
      snapshotAgainAt = performance.now() + snapshotAgainMs;
      log.error({ err: error, dir, againMs: snapshotAgainMs }, 'link table: no snapshot could be written');
    }
  }

  return {
    async load() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const name of await readdir(dir)) if (UNFINISHED.test(name)) await rm(join(dir, name));
      const snapshots = await numbers('snapshot');
      const newest = snapshots.at(-1) ?? 0;
      complete = newest > 0;
      if (complete) {
        const { bytes, whole } = replay(path(newest, 'snapshot'));
        snapshotBytes = bytes;
        complete = whole;
        if (!whole) log.error({ dir, newest }, 'link table: the snapshot on disk is damaged');
      }
      const logs = (await numbers('changes')).filter((n) => n >= newest);
      for (const n of logs) {
        if (!replay(path(n, 'changes')).whole) log.warn({ dir, n }, 'link table: changes on disk end torn');
      }
      number = Math.max(newest, logs.at(-1) ?? 0);
      await startChanges();
      if (!complete) syncPoint = null;
      return complete;
    },
    syncPoint: () => syncPoint,
    notePut: (record) => note(changeFrame.put(record)),
    noteRemoved: (id) => note(changeFrame.remove(id)),
    noteKey: (key) => note(changeFrame.putKey(key)),
    noteKeyRemoved: (key) => note(changeFrame.removeKey(key.id)),
    noteSyncPoint(syncPoint) {
      if (paused || !(syncPointOwed || syncPoint.at - syncPointAt > SYNC_POINT_EVERY_MS)) return;
      note(changeFrame.stand(syncPoint));
      syncPointOwed = false;
      syncPointAt = syncPoint.at;
    },
    pause() {
      paused = true;
    },
    async completed() {
      complete = true;
      await trySnapshot();
    },
    async compact() {
      flushWhenDue();
      const outgrown = !paused && changesBytes > Math.max(leastChanges, snapshotBytes / 2);
      if (complete && (snapshotOwed || outgrown)) await trySnapshot();
    },
    failures: () => failures,
    async close() {
      appendAgainAt = Number.NEGATIVE_INFINITY;
      flushWhenDue();
      hurry();
      await flushing;
      await changes?.close();
      changes = null;
    },
  };
}
