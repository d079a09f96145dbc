import type { Logger } from '../../tier/log.ts';
import type { BatchBuffer } from './batch-buffer.ts';
import type { LossReport } from './loss-report.ts';
import type { JournalMetrics, LossCause } from './metrics.ts';
import { type SegmentFile, writeFrame } from './segment-file.ts';
import type { SegmentSupply } from './segment-supply.ts';

export type SegmentWriterOptions = {
  supply: SegmentSupply;
  /** Age of its first event at which a segment is closed. Milliseconds. */
  segmentAgeMs: number;
  loss: LossReport;
  metrics: JournalMetrics;
  log: Logger;
  /** Called with a segment that gets no more frames. */
  finished: (file: SegmentFile) => void;
};

/** Writes the frames of a stream, each into the current segment or the next one. */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  /** When the current segment got its first event, by the monotonic clock. Null: it has heartbeats at most. */
  #firstEventAt: number | null = null;
  #failed: SegmentFile | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Notes that the current segment has an event. */
  noteEvent(): void {
    this.#firstEventAt ??= performance.now();
  }

  /** Writes no more into a segment that the disk failed to sync. */
  giveUp(file: SegmentFile): void {
    this.#failed = file;
  }

  /** Writes the batch as one frame, into the next segment if it must. @returns the cause when it could not */
  write(batch: BatchBuffer): LossCause | null {
    const { supply, loss, metrics } = this.#options;
    const bytes = batch.frameBytes;
    const began = performance.now();
    try {
      if (!supply.fits(bytes) || this.#failed === supply.current) {
        if (!this.#roll()) return loss.begin('budget');
      }
      const segment = supply.current;
      writeFrame(segment, batch.frame(segment.start + BigInt(segment.position)));
      segment.position += bytes;
    } catch (error) {
      return loss.begin(isDiskFull(error) ? 'disk_full' : 'disk_error', error);
    }
    metrics.writeSeconds.observe((performance.now() - began) / 1000);
    metrics.batches.inc();
    metrics.bytes.inc(bytes);
    return null;
  }

  /** Readers remove a segment only once it has a successor; without this, an idle stream would keep its events. */
  closeOld(): void {
    const { segmentAgeMs, log } = this.#options;
    if (this.#firstEventAt === null || performance.now() - this.#firstEventAt < segmentAgeMs) return;
    try {
      this.#roll(); // if it fails, the next heartbeat tries again
    } catch (error) {
      log.warn({ err: error }, 'failed to close an old journal segment; will retry');
    }
  }

  /** Moves on to the next segment. @returns false when the budget is used up @throws the error of the disk */
  #roll(): boolean {
    const { supply, finished } = this.#options;
    const done = supply.roll();
    if (done === 'budget') return false;
    finished(done);
    this.#firstEventAt = null;
    return true;
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
