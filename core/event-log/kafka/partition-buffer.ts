import type { LogBatch, LogDamage } from '../port.ts';
import { fromMessage, type ReceivedMessage } from './record.ts';

/** How far a partition is fetched ahead of a slow reader; then it is paused. */
const AHEAD_BYTES = 16 * 1024 * 1024;

type Piece = { nextOffset: bigint; bytes: number; batch?: LogBatch; damage?: LogDamage };

/** The result of one fetch. */
export type Fetched = {
  /** The offset that was requested. Offsets between it and the messages are not in the log. */
  requested: bigint;
  /** The offset behind the last record, including records that are not messages. */
  end: bigint;
  messages: readonly ReceivedMessage[];
};

/**
 * What was fetched of a partition and not yet read. After an outage or a seek, the client may fetch from anywhere.
 * Only a fetch that begins at the reader's position is taken: another would hide a gap.
 */
export class PartitionBuffer {
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #position = 0n;
  #read = 0n;
  #wake: (() => void) | null = null;
  #usedAt = 0;

  get position(): bigint {
    return this.#position;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** Makes `offset` the next one to read. @returns whether the client must seek there */
  moveTo(offset: bigint): boolean {
    this.#usedAt = performance.now();
    if (this.#read === offset) return false;
    this.#read = offset;
    this.drop();
    return true;
  }

  drop(): void {
    this.#pieces.length = 0;
    this.#bytes = 0;
    this.#position = this.#read;
  }

  /**
   * Adds a fetch.
   *
   * @returns `behind` and `ahead` when it is not what comes next: the client must seek to `position`
   */
  offer({ requested, end, messages }: Fetched): 'taken' | 'behind' | 'ahead' {
    if (requested > this.#position) return 'ahead';
    if (end <= this.#position) return 'behind';
    for (const message of messages) {
      if (BigInt(message.offset) < this.#position) continue;
      const decoded = fromMessage(message);
      const bytes = message.value?.length ?? 0;
      const { nextOffset } = decoded;
      this.#add(
        'reason' in decoded ? { nextOffset, bytes, damage: decoded } : { nextOffset, bytes, batch: decoded },
      );
    }
    this.#position = end;
    return 'taken';
  }

  /** Skips to `start`, because the log has expired before it, and reports the gap as damage. */
  skipTo(start: bigint): void {
    const damage = { offset: this.#position, nextOffset: start, reason: 'expired', bytes: new Uint8Array() };
    this.#position = start;
    this.#add({ nextOffset: start, bytes: 0, damage });
  }

  wantsMore(): boolean {
    return this.#bytes < AHEAD_BYTES;
  }

  async filled(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#pieces.length > 0 || waitMs <= 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }

  /** Takes out about `maxBytes`, at least one piece when there is one. */
  take(maxBytes: number): { batches: LogBatch[]; damage: LogDamage[]; nextOffset: bigint } {
    const batches: LogBatch[] = [];
    const damage: LogDamage[] = [];
    for (let bytes = 0; bytes < maxBytes; ) {
      const piece = this.#pieces.shift();
      if (!piece) break;
      bytes += piece.bytes + 1;
      this.#bytes -= piece.bytes;
      this.#read = piece.nextOffset;
      if (piece.batch) batches.push(piece.batch);
      if (piece.damage) damage.push(piece.damage);
    }
    return { batches, damage, nextOffset: this.#read };
  }

  #add(piece: Piece): void {
    this.#pieces.push(piece);
    this.#bytes += piece.bytes;
    this.#wake?.();
  }
}
