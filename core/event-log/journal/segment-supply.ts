import { closeSync, rmSync } from 'node:fs';
import type { Logger } from '../../tier/log.ts';
import type { LossCause } from './metrics.ts';
import { prepareSegment, type SegmentFile, sizeOf, sparseSegment, takePrepared } from './segment-file.ts';
import { listSegments, listSegmentsNow, preparedPath, type Segment } from './segments.ts';

/** Interval at which appends look for freed segments while the budget is used up. */
const RECOUNT_MS = 25;

/** Pause after a failed preparation. Meanwhile segments are made without it. */
const PREPARE_AGAIN_MS = 5000;

/**
 * Pauses of the preparation after each piece, while it is ahead of the writes in the current segment, and far ahead.
 * It shares the disk, and often the core, with them. It does not rest when it is behind, nor when each click waits
 * for a sync: a short burst is then cheaper.
 */
const REST_MS = 8;
const LONG_REST_MS = 32;
const FAR_AHEAD = 0.25;

/** The first segment of a start is small, which keeps starts quick and cheap. */
const STARTER_BYTES = 4 * 1024 * 1024;

export type SupplyOptions = {
  directory: string;
  segmentBytes: number;
  budgetBytes: number;
  /** Sync interval of the journal; 0 syncs before each append settles. Milliseconds. */
  syncMs: number;
  log: Logger;
};

/**
 * Provides the segment to write to. It prepares the next one ahead of need and keeps the stream within its disk
 * budget. Consumers remove segments on their own, so it recounts them.
 */
export class SegmentSupply {
  readonly #options: SupplyOptions;
  readonly #held = new Map<string, number>();
  #heldBytes = 0;
  #current: SegmentFile;
  #prepared: SegmentFile | null = null;
  #preparing: Promise<void> | null = null;
  #countedAt = 0;
  #prepareAt = 0;
  #closed = false;

  private constructor(options: SupplyOptions, first: SegmentFile) {
    this.#options = options;
    this.#current = first;
    this.#count(listSegmentsNow(options.directory));
  }

  static async open(options: SupplyOptions, start: bigint): Promise<SegmentSupply> {
    const { directory, segmentBytes, log } = options;
    const capacity = Math.min(STARTER_BYTES, segmentBytes);
    try {
      const first = await prepareSegment(directory, capacity, () => start);
      takePrepared(directory, first);
      return new SegmentSupply(options, first);
    } catch (error) {
      // A full disk loses clicks, but redirects of known links must continue.
      log.error({ err: error, directory }, 'no room for a journal segment; starting without one');
      return new SegmentSupply(options, sparseSegment(directory, start, capacity));
    }
  }

  get current(): SegmentFile {
    return this.#current;
  }

  /** Returns the fraction of the budget in use, 0 to 1. One segment of it is reserved for the next one. */
  fill(): number {
    const { budgetBytes, segmentBytes } = this.#options;
    return Math.min(1, (this.#heldBytes + this.#current.position) / (budgetBytes - segmentBytes));
  }

  fits(bytes: number): boolean {
    return this.#current.position + bytes <= this.#current.capacity;
  }

  /**
   * Makes the next segment the current one.
   *
   * @returns the finished segment, or why there is no next one
   * @throws the error of the disk
   */
  roll(): SegmentFile | Extract<LossCause, 'budget'> {
    if (!this.#prepared && !this.#affordable() && !this.#affordableNow()) return 'budget';
    const { directory, segmentBytes } = this.#options;
    const next = this.#prepared ?? sparseSegment(directory, this.#nextStart(), segmentBytes);
    if (next === this.#prepared) takePrepared(directory, next);
    this.#prepared = null;
    const done = this.#current;
    this.#current = next;
    this.#hold(done.start.toString(), done.position);
    this.prepare();
    return done;
  }

  /** Begins to prepare the next segment, unless there is one or the budget is used up. */
  prepare(): void {
    if (this.#closed || this.#prepared || this.#preparing || !this.#affordable()) return;
    if (performance.now() < this.#prepareAt) return;
    const { directory, segmentBytes, log } = this.#options;
    const nextStart = () => this.#nextStart();
    const rest = (filled: number) => this.#restMs(filled);
    this.#preparing = prepareSegment(directory, segmentBytes, nextStart, rest).then(
      (file) => {
        this.#preparing = null;
        // Two hazards: a segment with this start may exist by now, and would be replaced; or a segment that was made
        // without waiting has used the budget.
        if (file.start === this.#nextStart() && this.#affordable()) this.#prepared = file;
        else this.#discard(file);
      },
      (error: unknown) => {
        log.warn({ err: error, directory }, 'failed to prepare the next journal segment');
        this.#preparing = null;
        this.#prepareAt = performance.now() + PREPARE_AGAIN_MS;
      },
    );
  }

  /** @param filled share of the next segment that is filled, 0 to 1 */
  #restMs(filled: number): number {
    const ahead = filled - this.#current.position / this.#current.capacity;
    if (ahead <= 0 || this.#closed || this.#options.syncMs === 0) return 0;
    return ahead < FAR_AHEAD ? REST_MS : LONG_REST_MS;
  }

  async recount(): Promise<void> {
    this.#count(await listSegments(this.#options.directory));
    this.prepare();
  }

  /** Stops the preparation and removes its file. The current segment stays with the caller. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#preparing;
    if (this.#prepared) this.#discard(this.#prepared);
    this.#prepared = null;
  }

  #discard(prepared: SegmentFile): void {
    closeSync(prepared.fd);
    rmSync(preparedPath(this.#options.directory, prepared.start), { force: true });
  }

  #nextStart(): bigint {
    return this.#current.start + BigInt(this.#current.capacity);
  }

  #affordable(): boolean {
    const { budgetBytes, segmentBytes } = this.#options;
    return this.#heldBytes + this.#current.capacity + segmentBytes <= budgetBytes;
  }

  #affordableNow(): boolean {
    if (performance.now() - this.#countedAt < RECOUNT_MS) return false;
    this.#count(listSegmentsNow(this.#options.directory));
    return this.#affordable();
  }

  #count(segments: Segment[]): void {
    this.#countedAt = performance.now();
    const there = new Set(segments.map((segment) => segment.start.toString()));
    for (const [start, bytes] of this.#held) {
      if (there.has(start)) continue;
      this.#held.delete(start);
      this.#heldBytes -= bytes;
    }
    for (const { start, path } of segments) {
      if (start !== this.#current.start && !this.#held.has(start.toString())) {
        this.#hold(start.toString(), sizeOf(path));
      }
    }
  }

  #hold(start: string, bytes: number): void {
    this.#held.set(start, bytes);
    this.#heldBytes += bytes;
  }
}
