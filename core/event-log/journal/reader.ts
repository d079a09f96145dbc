import { readdirSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { linkSignals } from '../../tier/linked-signal.ts';
import type { EventLogReader } from '../port.ts';
import { Arena } from './arena.ts';
import { requestHeartbeats } from './heartbeats.ts';
import { LIVE_SEARCH_BYTES, type ScanOptions, type SegmentScan, scanSegment } from './segment-scan.ts';
import {
  journalDirectory,
  listSegments,
  listSegmentsNow,
  missingIsNull,
  type Segment,
  streamDirectory,
} from './segments.ts';
import { type Tail, TailFiles } from './tail-files.ts';
import { TailWaits } from './tail-waits.ts';

/**
 * After a standstill this long in a file that is written to, the reader searches for a frame behind the end: damage
 * there would delay it until the segment is full.
 */
const SEARCH_AFTER_MS = 1000;
/** The same for a file that is not written to. Longer than the pauses between heartbeats of a stream without events. */
const SEARCH_UNWRITTEN_AFTER_MS = 15_000;

type ReadResult = Awaited<ReturnType<EventLogReader['read']>>;

/** Where a partition's reader waits, and when to search behind that position. */
type Standstill = { offset: bigint; since: number; searchAt: number; modifiedMs: number };

/**
 * Reads the journals under `dataDir` while they are written, by this process or others. A partition is a stream's
 * directory. The reader has no position of its own, so consumers may share it.
 */
export class JournalReader implements EventLogReader {
  readonly #dataDir: string;
  readonly #arena: Arena;
  readonly #listSegments: typeof listSegmentsNow;
  readonly #standstills = new Map<string, Standstill>();
  readonly #ends = new Map<string, bigint>();
  readonly #tails = new TailFiles();
  readonly #waits = new TailWaits(this.#tails);
  readonly #closing = new AbortController();

  /**
   * @param arenaBytes memory that every read reuses, for one consumer: a result is valid until the next read. 0: each
   *   read has memory of its own.
   * @param list lists the segments of a stream; tests count its calls
   */
  constructor(dataDir: string, arenaBytes = 0, list = listSegmentsNow) {
    this.#dataDir = dataDir;
    this.#arena = new Arena(arenaBytes);
    this.#listSegments = list;
  }

  async partitions(): Promise<string[]> {
    this.#tails.forgetOld();
    return this.#partitions();
  }

  #partitions(): string[] {
    const directory = journalDirectory(this.#dataDir);
    return ifExists(() => readdirSync(directory, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  }

  async read(
    partition: string,
    offset: bigint,
    options: { maxBytes: number; waitMs: number; signal?: AbortSignal; isQuiet?: boolean },
  ): Promise<ReadResult> {
    const deadline = performance.now() + options.waitMs;
    const { signal, release } = linkSignals(this.#closing.signal, options.signal);
    try {
      for (;;) {
        const result = await this.#readOnce(partition, offset, options.maxBytes);
        if (result.batches.length > 0 || result.damage.length > 0) {
          this.#noteEnd(partition, result.nextOffset);
          return result;
        }
        const withinMs = deadline - performance.now();
        if (withinMs <= 0 || signal.aborted) return result;
        const { isQuiet = false } = options;
        await this.#waits.untilMore({ partition, offset, withinMs, isQuiet, signal });
      }
    } finally {
      release();
    }
  }

  async start(partition: string): Promise<bigint> {
    const [first] = await listSegments(this.#directory(partition));
    return first?.start ?? 0n;
  }

  async end(partition: string): Promise<bigint> {
    const { segments } = await this.#list(partition);
    const last = segments.at(-1);
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

  requestHeartbeats(): void {
    for (const partition of this.#partitions()) requestHeartbeats(this.#directory(partition));
  }

  async truncate(partition: string, offset: bigint): Promise<void> {
    const segments = await listSegments(this.#directory(partition));
    for (const [index, segment] of segments.entries()) {
      const next = segments[index + 1];
      if (!next || next.start > offset) return;
      await unlink(segment.path).catch(missingIsNull);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#tails.close();
  }

  #directory(partition: string): string {
    return streamDirectory(this.#dataDir, partition);
  }

  #noteEnd(partition: string, end: bigint): void {
    if (end > (this.#ends.get(partition) ?? 0n)) this.#ends.set(partition, end);
  }

  async #list(
    partition: string,
  ): Promise<{ segments: Segment[]; last: { tail: Tail; size: number; modifiedMs: number } | null }> {
    const listedAt = performance.now();
    // Synchronous: an idle reader lists each second, and a call in the thread pool would wake two threads.
    const segments = ifExists(() => this.#listSegments(this.#directory(partition)));
    const last = await this.#tails.note(partition, segments.at(-1), listedAt);
    const end = this.#ends.get(partition) ?? 0n;
    // When false, the known end belongs to an earlier journal of this name.
    const isOfThis = last?.continues && end <= last.tail.start + BigInt(last.size);
    if (!isOfThis) this.#ends.delete(partition);
    return { segments, last };
  }

  async #readOnce(partition: string, offset: bigint, maxBytes: number): Promise<ReadResult> {
    this.#arena.reset();
    const nothing: ReadResult = { batches: [], damage: [], nextOffset: offset };
    const tail = this.#tails.at(partition, offset);
    if (tail !== null) {
      if (tail.isEmptyAt(offset)) return nothing;
      const ahead = foundIn(tail.start, await this.#scanTail(tail, offset, maxBytes, 0));
      if (ahead) return ahead;
    }
    // Listed before the read: a segment that has a successor now gets no more frames.
    const { segments, last } = await this.#list(partition);
    let { index, from } = whereToRead(segments, offset, last?.size ?? null);
    for (;;) {
      const segment = segments[index];
      if (!segment) return nothing;
      if (from < segment.start) from = segment.start;
      const sealed = index < segments.length - 1;
      const scan = sealed
        ? await scanSealed(segment, from, { memory: this.#arena.take, maxBytes })
        : last &&
          (await this.#scanTail(
            last.tail,
            from,
            maxBytes,
            this.#searchBytes(partition, from, last.modifiedMs),
          ));
      const found = foundIn(segment.start, scan);
      if (found) return found;
      // Without a scan the segment was removed meanwhile: list again.
      if (scan?.ended !== 'finished') return nothing;
      from = segment.start + BigInt(scan.position);
      index += 1;
    }
  }

  #scanTail(tail: Tail, from: bigint, maxBytes: number, searchBytes: number): Promise<SegmentScan | null> {
    return tail.use((file) =>
      scanSegment(file, tail.start, Number(from - tail.start), {
        sealed: false,
        maxBytes,
        searchBytes,
        memory: this.#arena.take,
      }),
    );
  }

  #searchBytes(partition: string, from: bigint, modifiedMs: number): number {
    return this.#searchIsDue(partition, from, modifiedMs) ? LIVE_SEARCH_BYTES : 0;
  }

  #searchIsDue(partition: string, offset: bigint, modifiedMs: number): boolean {
    const now = performance.now();
    const known = this.#standstills.get(partition);
    if (known && offset < known.offset) return false; // this consumer is only behind
    if (known?.offset !== offset) {
      this.#standstills.set(partition, { offset, since: now, searchAt: now + SEARCH_AFTER_MS, modifiedMs });
      return false;
    }
    if (now < known.searchAt) return false;
    if (modifiedMs === known.modifiedMs && now < known.since + SEARCH_UNWRITTEN_AFTER_MS) return false;
    known.searchAt = now + 5 * SEARCH_AFTER_MS;
    return true;
  }
}

function ifExists<T>(list: () => T[]): T[] {
  try {
    return list();
  } catch (error) {
    return missingIsNull(error as NodeJS.ErrnoException) ?? [];
  }
}

/**
 * Returns the segment with `offset`, or the start of the first one when all begin behind it. An offset beyond the
 * last segment belongs to an earlier journal of this name; then too, reading begins at the first one.
 *
 * @param lastSize bytes of the last segment; null: it is gone
 */
function whereToRead(
  segments: Segment[],
  offset: bigint,
  lastSize: number | null,
): { index: number; from: bigint } {
  const index = segments.findLastIndex((segment) => segment.start <= offset);
  const segment = segments[index];
  const isBeyond =
    segment !== undefined &&
    index === segments.length - 1 &&
    lastSize !== null &&
    offset > segment.start + BigInt(lastSize);
  if (!segment || isBeyond) return { index: 0, from: segments[0]?.start ?? offset };
  return { index, from: offset };
}

function foundIn(start: bigint, scan: SegmentScan | null): ReadResult | null {
  if (!scan || scan.batches.length + scan.damage.length === 0) return null;
  return { batches: scan.batches, damage: scan.damage, nextOffset: start + BigInt(scan.position) };
}

async function scanSealed(
  segment: Segment,
  from: bigint,
  options: Pick<ScanOptions, 'maxBytes' | 'memory'>,
): Promise<SegmentScan | null> {
  const file = await open(segment.path, 'r').catch(missingIsNull);
  if (!file) return null;
  try {
    return await scanSegment(file, segment.start, Number(from - segment.start), {
      ...options,
      sealed: true,
      searchBytes: 0,
    });
  } finally {
    await file.close();
  }
}
