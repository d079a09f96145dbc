import { formatInstant, parseInstant } from '../../core/time/timestamps.ts';

/** Streams that there can be: a click's stream is its time's last three digits. */
const STREAMS = 1_000n;
const TEXT = /^([^~]+)((?:~[1-9]\d{0,16}){0,1000})$/;

/**
 * Which clicks of a workspace were given. Clicks come as they become visible, which is in the order of their times
 * for one stream only: every click before `settled` was given (or is not wanted), and of each stream those up to its
 * newest one. As text it is the id of an event, short because few streams have clicks that new:
 * `2026-11-20T10:00:00.123456789Z~5000003~7200004`, an instant, then nanoseconds from it to the newest click of each.
 */
export class Position {
  #settled: bigint;
  readonly #newest = new Map<bigint, bigint>();

  /**
   * @param settled nanoseconds: clicks before it count as given
   * @param newest times of clicks: they and the earlier ones of their streams count as given
   */
  constructor(settled: bigint, newest: Iterable<bigint> = []) {
    this.#settled = settled;
    for (const time of newest) this.take(time);
  }

  /** Reads an event's id, or an instant: nothing from it on was given. Null when it is neither. */
  static parse(text: string): Position | null {
    const parts = TEXT.exec(text);
    const settled = parseInstant(parts?.[1] ?? '');
    if (!parts || settled === null) return null;
    const deltas = (parts[2] ?? '').split('~').slice(1);
    return new Position(
      settled,
      deltas.map((delta) => settled + BigInt(delta) - 1n),
    );
  }

  get settled(): bigint {
    return this.#settled;
  }

  /** Times of the newest clicks that were given, of each stream that has one not before {@link settled}. */
  get newest(): bigint[] {
    return [...this.#newest.values()];
  }

  /** The place before the clock was set right, as it is since. */
  earlier(nanos: bigint): Position {
    return new Position(
      this.#settled - nanos,
      this.newest.map((time) => time - nanos),
    );
  }

  copy(): Position {
    return new Position(this.#settled, this.newest);
  }

  /** Counts a click as given. @returns false when it was already */
  take(tsNanos: bigint): boolean {
    const stream = tsNanos % STREAMS;
    const last = this.#newest.get(stream);
    if (tsNanos < this.#settled || (last !== undefined && tsNanos <= last)) return false;
    this.#newest.set(stream, tsNanos);
    return true;
  }

  /** Says that every click before `nanos` was given. Never goes back. */
  settle(nanos: bigint): void {
    if (nanos <= this.#settled) return;
    this.#settled = nanos;
    for (const [stream, time] of this.#newest) if (time < nanos) this.#newest.delete(stream);
  }

  toString(): string {
    // One more, so that a click of the very instant is no zero.
    const deltas = this.newest.map((time) => `~${time - this.#settled + 1n}`);
    return `${formatInstant(this.#settled, 9)}${deltas.join('')}`;
  }
}
