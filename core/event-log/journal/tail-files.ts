import { fstatSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { FIRST_CHUNK_BYTES, type SegmentBytes } from './segment-scan.ts';
import { missingIsNull, type Segment } from './segments.ts';

/**
 * For this long, a listed segment is assumed to be its stream's last. Meanwhile it may get a successor or be removed. A
 * segment that gets a successor is cut, which is noticed at once.
 */
export const LIST_MS = 1_000;
/**
 * A stream whose files were not listed for this long has no reader, not even a quiet one; its last segment may be gone.
 */
const FORGET_MS = 15_000;

/** The last segment of a stream, open. */
export type Tail = {
  start: bigint;
  /** Whether nothing is at this offset yet: zeros that the writer prepared, in a file that was not cut. */
  isEmptyAt(offset: bigint): boolean;
  /** Whether something was written at this offset. At the end of a cut file this is false, as is {@link isEmptyAt}. */
  isWrittenAt(offset: bigint): boolean;
  /** Reads from the file, which stays open meanwhile. @returns null when it is no longer the last segment */
  use<T>(work: (file: SegmentBytes) => Promise<T>): Promise<T | null>;
};

type OpenTail = { tail: Tail; path: string; inode: number; listedAt: number; giveUp(): void };

/**
 * Keeps the last segments of streams open between reads. Nearly every read is of what was just written there;
 * listing, opening and closing files for each heartbeat would be most of an idle worker's cost.
 */
export class TailFiles {
  readonly #open = new Map<string, OpenTail>();
  #isClosed = false;

  /** Returns the stream's last segment, if it was listed recently and `offset` is not before it. */
  at(partition: string, offset: bigint): Tail | null {
    const recent = this.#open.get(partition);
    if (!recent || performance.now() - recent.listedAt >= LIST_MS) return null;
    return offset >= recent.tail.start ? recent.tail : null;
  }

  /** Returns the path of the stream's last segment as it was listed last; null when there is none. */
  pathOf(partition: string): string | null {
    return this.#open.get(partition)?.path ?? null;
  }

  /**
   * Records which segment is a stream's last.
   *
   * @param listedAt time before the listing, of `performance.now()`
   * @returns the tail, its size in bytes, the time of its last write, and whether it continues the tail recorded
   *   before, which a replaced journal does not; null when the segment is gone
   */
  async note(
    partition: string,
    last: Segment | undefined,
    listedAt: number,
  ): Promise<{ tail: Tail; size: number; modifiedMs: number; continues: boolean } | null> {
    const stats = last && statSync(last.path, { throwIfNoEntry: false });
    if (!stats) {
      this.#giveUp(partition);
      return null;
    }
    const { size, ino, mtimeMs: modifiedMs } = stats;
    const known = this.#open.get(partition);
    // An open file keeps its inode: the same number is the same file.
    if (known?.tail.start === last.start && known.inode === ino) {
      known.listedAt = Math.max(known.listedAt, listedAt);
      return { tail: known.tail, size, modifiedMs, continues: true };
    }
    const file = await open(last.path, 'r').catch(missingIsNull);
    if (!file) return null;
    if (this.#isClosed) {
      await file.close();
      return null;
    }
    const opened = tailOf(last.start, file);
    this.#giveUp(partition);
    this.#open.set(partition, { ...opened, path: last.path, inode: fstatSync(file.fd).ino, listedAt });
    return {
      tail: opened.tail,
      size,
      modifiedMs,
      continues: known !== undefined && known.tail.start < last.start,
    };
  }

  forgetOld(): void {
    const before = performance.now() - FORGET_MS;
    for (const [partition, { listedAt }] of this.#open) if (listedAt < before) this.#giveUp(partition);
  }

  close(): void {
    this.#isClosed = true;
    for (const partition of this.#open.keys()) this.#giveUp(partition);
  }

  #giveUp(partition: string): void {
    this.#open.get(partition)?.giveUp();
    this.#open.delete(partition);
  }
}

function tailOf(start: bigint, file: FileHandle): { tail: Tail; giveUp(): void } {
  const first = Buffer.alloc(4);
  let readers = 0;
  let isGivenUp = false;

  function closeIfOver(): void {
    if (isGivenUp && readers === 0) file.close().catch(() => undefined); // it was only read
  }

  /** Returns the first bytes of a frame at an offset as a number; null at the end of the file. */
  function beginningAt(offset: bigint): number | null {
    if (isGivenUp) return null;
    const bytes = readSync(file.fd, first, 0, first.length, Number(offset - start));
    return bytes === first.length ? first.readUInt32LE(0) : null;
  }

  return {
    tail: {
      start,
      isEmptyAt: (offset) => beginningAt(offset) === 0,
      isWrittenAt: (offset) => (beginningAt(offset) ?? 0) !== 0,
      async use(work) {
        if (isGivenUp) return null;
        readers += 1;
        try {
          return await work(bytesOf(file));
        } finally {
          readers -= 1;
          closeIfOver();
        }
      },
    },
    giveUp() {
      isGivenUp = true;
      closeIfOver();
    },
  };
}

/**
 * Reads short pieces synchronously: they were written a moment ago, so they are in memory. A read in the thread pool
 * would wake two threads for each heartbeat.
 */
function bytesOf(file: FileHandle): SegmentBytes {
  return {
    read(buffer, offset, length, position) {
      if (length > FIRST_CHUNK_BYTES) return file.read(buffer, offset, length, position);
      return { bytesRead: readSync(file.fd, buffer, offset, length, position) };
    },
  };
}
