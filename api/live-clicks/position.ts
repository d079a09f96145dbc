import { formatInstant, parseInstant } from '../../core/time/timestamps.ts';

/** Maximum number of streams: the last three digits of a click's time are its stream. */
const STREAMS = 1_000n;
const TEXT = /^([^~]+)((?:~[1-9]\d{0,16}){0,1000})$/;

/**
 * The sent clicks of a workspace. Clicks become visible in the order of their times only within one stream. So the
 * position has two parts: all clicks before `settled` are sent, and those of each stream up to its newest one. As text
 * it is the id of an event. It is short, because few streams have clicks past `settled`:
 * `2026-11-20T10:00:00.123456789Z~5000003~7200004`, an instant, then the nanoseconds from it to the newest click of
 * each stream.
 */
export class Position {
  #settled: bigint;
  readonly #newest = new Map<bigint, bigint>();

  /**
   * @param settled nanoseconds: clicks before it count as sent
   * @param newest times of clicks: they and the earlier ones of their streams count as sent
   */
  constructor(settled: bigint, newest: Iterable<bigint> = []) {
    this.#settled = settled;
    for (const time of newest) this.take(time);
  }

  /** Parses an event's id, or an instant before which all clicks count as sent. Null when it is neither. */
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

  /** The time of the newest sent click of each stream, unless it is before {@link settled}. */
  get newest(): bigint[] {
    return [...this.#newest.values()];
  }

  /** Returns the position corrected for a clock that was ahead. */
  earlier(nanos: bigint): Position {
    return new Position(
      this.#settled - nanos,
      this.newest.map((time) => time - nanos),
    );
  }

  copy(): Position {
    return new Position(this.#settled, this.newest);
  }

  /** Marks a click as sent. @returns false when it already was */
  take(tsNanos: bigint): boolean {
    const stream = tsNanos % STREAMS;
    const last = this.#newest.get(stream);
    if (tsNanos < this.#settled || (last !== undefined && tsNanos <= last)) return false;
    this.#newest.set(stream, tsNanos);
    return true;
  }

  /** Marks every click before `nanos` as sent. Never moves back. */
  settle(nanos: bigint): void {
    if (nanos <= this.#settled) return;
    this.#settled = nanos;
    for (const [stream, time] of this.#newest) if (time < nanos) this.#newest.delete(stream);
  }

  toString(): string {
    // Adds one, so that a click at the very instant is not 0.
    const deltas = this.newest.map((time) => `~${time - this.#settled + 1n}`);
    return `${formatInstant(this.#settled, 9)}${deltas.join('')}`;
  }
}
