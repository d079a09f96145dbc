import { readSync } from 'node:fs';
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventLogReader } from '../port.ts';
import { LIVE_SEARCH_BYTES, type SegmentScan, scanSegment } from './segment-scan.ts';
import { journalDirectory, listSegments, type Segment, streamDirectory } from './segments.ts';

/** How often the end of a stream is looked at while nothing comes. */
const POLL_MS = 20;
/** How often, meanwhile, the stream's files are listed again: one may have a successor, or have been freed. */
const LIST_MS = 250;

/**
 * A live stream moves at least each 250 ms (heartbeats). One that stands still this long is searched for a
 * frame behind its end: damage there would otherwise hold it up until its segment is full.
 */
const SEARCH_AFTER_MS = 1000;

type ReadResult = Awaited<ReturnType<EventLogReader['read']>>;

/** Where a partition's reader stood still, and when to search behind that place. */
type Standstill = { offset: bigint; searchAt: number };

/**
 * Reads the journals under `dataDir` while their writers write, in this process or in others. One partition is
 * one stream directory. Keeps no position: any number of consumers may share a reader.
 */
export class JournalReader implements EventLogReader {
  readonly #dataDir: string;
  readonly #standstills = new Map<string, Standstill>();
  readonly #ends = new Map<string, bigint>();
  readonly #closing = new AbortController();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  async partitions(): Promise<string[]> {
    try {
      const entries = await readdir(journalDirectory(this.#dataDir), { withFileTypes: true });
      return entries
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
        .sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async read(
    partition: string,
    offset: bigint,
    options: { maxBytes: number; waitMs: number; signal?: AbortSignal },
  ): Promise<ReadResult> {
    const deadline = performance.now() + options.waitMs;
    const signal = options.signal
      ? AbortSignal.any([options.signal, this.#closing.signal])
      : this.#closing.signal;
    for (;;) {
      const result = await this.#readOnce(partition, offset, options.maxBytes);
      if (result.batches.length > 0 || result.damage.length > 0) {
        this.#noteEnd(partition, result.nextOffset);
        return result;
      }
      const left = deadline - performance.now();
      if (left <= 0 || signal.aborted) return result;
      await this.#untilMore(partition, offset, Math.min(left, LIST_MS), signal);
    }
  }

  /**
   * Waits until something stands at `offset`, or `withinMs`. This is what a reader does nearly all of its time, so it
   * looks at four bytes of a file that stays open; they are in memory, because somebody is writing there.
   */
  async #untilMore(partition: string, offset: bigint, withinMs: number, signal: AbortSignal): Promise<void> {
    const until = performance.now() + withinMs;
    const segments = await listSegments(this.#directory(partition));
    const { index, from } = await whereToRead(segments, offset);
    const segment = segments[index];
    const file = segment === undefined ? null : await openIfThere(segment.path);
    const position = segment === undefined || from < segment.start ? 0 : Number(from - segment.start);
    const first = Buffer.alloc(4);
    try {
      for (let left = withinMs; left > 0 && !signal.aborted; left = until - performance.now()) {
        await delay(Math.min(POLL_MS, left), undefined, { signal }).catch(() => undefined);
        if (file === null) return;
        const bytes = readSync(file.fd, first, 0, first.length, position);
        // The end of the file: it has been cut, and there is a next one.
        if (bytes < first.length || first.readUInt32LE(0) !== 0) return;
      }
    } finally {
      await file?.close();
    }
  }

  async start(partition: string): Promise<bigint> {
    const [first] = await listSegments(this.#directory(partition));
    return first?.start ?? 0n;
  }

  async end(partition: string): Promise<bigint> {
    const last = (await listSegments(this.#directory(partition))).at(-1);
    if (!last) return 0n;
    let end = this.#ends.get(partition) ?? 0n;
    if (end < last.start) end = last.start;
    for (;;) {
      const result = await this.#readOnce(partition, end, 8 * 1024 * 1024);
      if (result.nextOffset <= end) break;
      end = result.nextOffset;
    }
    this.#noteEnd(partition, end);
    return end;
  }

  async free(partition: string, offset: bigint): Promise<void> {
    const segments = await listSegments(this.#directory(partition));
    for (const [index, segment] of segments.entries()) {
      const next = segments[index + 1];
      if (!next || next.start > offset) return;
      await unlink(segment.path).catch(ignoreMissing);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  #directory(partition: string): string {
    return streamDirectory(this.#dataDir, partition);
  }

  #noteEnd(partition: string, end: bigint): void {
    if (end > (this.#ends.get(partition) ?? 0n)) this.#ends.set(partition, end);
  }

  /** Reads what is there now from `offset` on, over the end of segments that are done. */
  async #readOnce(partition: string, offset: bigint, maxBytes: number): Promise<ReadResult> {
    // Listed before the read: a segment that has a successor now gets no frame any more.
    const segments = await listSegments(this.#directory(partition));
    let { index, from } = await whereToRead(segments, offset);
    for (;;) {
      const segment = segments[index];
      if (!segment) return { batches: [], damage: [], nextOffset: offset };
      if (from < segment.start) from = segment.start;
      const sealed = index < segments.length - 1;
      const scan = await this.#scan(partition, segment, from, sealed, maxBytes);
      if (!scan) return { batches: [], damage: [], nextOffset: offset }; // freed meanwhile: list again
      from = segment.start + BigInt(scan.position);
      if (scan.batches.length > 0 || scan.damage.length > 0) {
        return { batches: scan.batches, damage: scan.damage, nextOffset: from };
      }
      if (scan.ended !== 'finished') return { batches: [], damage: [], nextOffset: offset };
      index += 1;
    }
  }

  async #scan(
    partition: string,
    segment: Segment,
    from: bigint,
    sealed: boolean,
    maxBytes: number,
  ): Promise<SegmentScan | null> {
    const file = await openIfThere(segment.path);
    if (!file) return null;
    try {
      return await scanSegment(file, segment.start, Number(from - segment.start), {
        sealed,
        maxBytes,
        searchBytes: !sealed && this.#searchIsDue(partition, from) ? LIVE_SEARCH_BYTES : 0,
      });
    } finally {
      await file.close();
    }
  }

  #searchIsDue(partition: string, offset: bigint): boolean {
    const now = performance.now();
    const known = this.#standstills.get(partition);
    if (known && offset < known.offset) return false; // a consumer that is behind does not stand still
    if (known?.offset !== offset) {
      this.#standstills.set(partition, { offset, searchAt: now + SEARCH_AFTER_MS });
      return false;
    }
    if (now < known.searchAt) return false;
    known.searchAt = now + 5 * SEARCH_AFTER_MS;
    return true;
  }
}

/**
 * The segment that holds `offset`, or the start of the first one when all begin behind it. An offset beyond the
 * last segment belongs to an earlier journal of this name, whose directory is gone: then too this one is read
 * from its start.
 */
async function whereToRead(segments: Segment[], offset: bigint): Promise<{ index: number; from: bigint }> {
  const index = segments.findLastIndex((segment) => segment.start <= offset);
  const segment = segments[index];
  if (!segment) return { index: 0, from: segments[0]?.start ?? offset };
  if (index < segments.length - 1) return { index, from: offset };
  const size = await stat(segment.path).then((stats) => stats.size, ignoreMissing);
  if (size === undefined || offset <= segment.start + BigInt(size)) return { index, from: offset };
  return { index: 0, from: segments[0]?.start ?? offset };
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
