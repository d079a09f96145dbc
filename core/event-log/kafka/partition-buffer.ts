import type { LogBatch, LogDamage } from '../port.ts';
import { fromMessage, type ReceivedMessage } from './record.ts';

/** A partition whose reader is slow is fetched ahead by this much, and then paused. */
const AHEAD_BYTES = 16 * 1024 * 1024;

type Piece = { nextOffset: bigint; bytes: number; batch?: LogBatch; damage?: LogDamage };

/** What one fetch has brought. */
export type Fetched = {
  /** The offset that was asked for. What is missing between it and the messages is not in the log. */
  asked: bigint;
  /** The offset behind the last record, those included that are no messages. */
  end: bigint;
  messages: readonly ReceivedMessage[];
};

/**
 * What has been fetched of a partition and not yet been read. The client may begin anew anywhere: after an outage, or
 * with a fetch that a seek has overtaken. So only what was asked for where the reader stands is taken: anything
 * else could leave out a part of the log and look like it.
 */
export class PartitionBuffer {
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #position = 0n;
  #read = 0n;
  #wake: (() => void) | null = null;
  #usedAt = 0;

  /** Where to fetch from. */
  get position(): bigint {
    return this.#position;
  }

  /** When it was last read from, in milliseconds of `performance.now()`. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** Makes `offset` what is read next. @returns whether the client has to seek there */
  moveTo(offset: bigint): boolean {
    this.#usedAt = performance.now();
    if (this.#read === offset) return false;
    this.#read = offset;
    this.drop();
    return true;
  }

  /** Forgets what was fetched ahead: it has to be fetched again. */
  drop(): void {
    this.#pieces.length = 0;
    this.#bytes = 0;
    this.#position = this.#read;
  }

  /**
   * Takes in what was fetched.
   *
   * @returns `behind` and `ahead`: it is not what comes next, the client has to seek to `position`
   */
  offer({ asked, end, messages }: Fetched): 'taken' | 'behind' | 'ahead' {
    if (asked > this.#position) return 'ahead';
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

  /** The log no longer holds what comes next: it goes on at `start`, and says so with a piece of damage. */
  skipTo(start: bigint): void {
    const damage = { offset: this.#position, nextOffset: start, reason: 'expired', bytes: new Uint8Array() };
    this.#position = start;
    this.#add({ nextOffset: start, bytes: 0, damage });
  }

  wantsMore(): boolean {
    return this.#bytes < AHEAD_BYTES;
  }

  /** Waits for something to read. */
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

  /** Takes up to about `maxBytes` out, at least one piece when there is one. */
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
