import type { InsertedClick } from '../clickhouse/read-clicks.ts';
import { Violation } from '../history.ts';
import type { Stream } from './writer.ts';

/** `good`: has to be stored. The others can't be: they have to become dead letters. */
export type Fate = 'good' | 'malformed' | 'poisoned';

type Click = {
  name: string;
  /** `<ordinal>/<sequence>`. */
  event: string;
  /** Microseconds. */
  ts: number;
  fate: Fate;
  isStored: boolean;
  isLettered: boolean;
  /** Why it may be missing although it was answered; null: it may not. */
  mayBeMissing: string | null;
};

export const STORED_ONCE = 'an answered click is stored exactly once';
export const REFUSED = 'nothing that was refused is stored';
export const WATERMARK_PASSED = 'the watermark never passes a click that is not visible';
export const WATERMARK_BACK = 'the watermark never goes back';
export const FENCED = 'a process that lost its lease writes nothing';
export const SEEN_ONCE = 'a poller with since=watermark sees every click';

/** What became of each click between its answer and a poller, and the invariants. `docs/guarantees.md` names them. */
export class LaneLedger {
  /** What broke first. */
  violation: Violation | null = null;
  readonly #clicks = new Map<string, Click>();
  /** Clicks of which neither ClickHouse nor the dead letters have anything yet. */
  readonly #waiting = new Set<Click>();
  #next = 0;
  #watermark = 0;

  get clicks(): number {
    return this.#clicks.size;
  }

  /** Whether all that has to be stored is. */
  get isSettled(): boolean {
    return this.#waiting.size === 0;
  }

  next(): number {
    return this.#next++;
  }

  answered(given: { number: number; stream: Stream; sequence: bigint; ts: number; fate: Fate }): void {
    const { number, stream, sequence, ts, fate } = given;
    const event = `${stream.ordinal}/${sequence}`;
    const state = { isStored: false, isLettered: false, mayBeMissing: null };
    const click = { name: nameOf(number), event, ts, fate, ...state };
    this.#clicks.set(event, click);
    this.#waiting.add(click);
  }

  isPoisoned({ event }: InsertedClick): boolean {
    return this.#clicks.get(event)?.fate === 'poisoned';
  }

  /** Takes in rows that ClickHouse has stored. */
  stored(rows: readonly InsertedClick[]): void {
    for (const { event, ts, linkId } of rows) {
      const click = this.#clicks.get(event);
      if (click?.ts !== ts || click.name !== nameOf(linkId.readUInt32BE(12))) {
        this.#break(STORED_ONCE, `a row that no one sent, or of another click, is stored as ${event}`);
        return;
      }
      if (click.isStored) this.#break(STORED_ONCE, `${click.name} is stored twice`);
      if (click.isLettered) this.#break(REFUSED, `${click.name} is a dead letter and is stored`);
      click.isStored = true;
      this.#waiting.delete(click);
    }
  }

  /** Takes in a dead letter. @param event null: of no event */
  lettered(event: string | null): void {
    const click = event === null ? undefined : this.#clicks.get(event);
    if (!click) return;
    if (click.fate === 'good') this.#break(STORED_ONCE, `${click.name} is good and became a dead letter`);
    if (click.isStored) this.#break(REFUSED, `${click.name} is stored and became a dead letter`);
    click.isLettered = true;
    this.#waiting.delete(click);
  }

  /**
   * Takes in the watermark once a transaction has committed.
   *
   * @param mayGoBack whether PostgreSQL has gone back before
   */
  watermark(micros: number, mayGoBack: boolean): void {
    if (micros < this.#watermark && !mayGoBack) {
      this.#break(WATERMARK_BACK, `it was ${shown(this.#watermark)} and is ${shown(micros)}`);
    }
    this.#watermark = micros;
    for (const { name, ts } of this.#waiting) {
      if (ts < micros) {
        this.#break(WATERMARK_PASSED, `it is ${shown(micros)}, and ${name} of ${shown(ts)} is not visible`);
        return;
      }
    }
  }

  /** Notes that the log no longer has clicks of a stream. */
  lost(ordinal: number, firstSequence: bigint, count: number): void {
    for (let index = 0n; index < count; index += 1n) {
      const click = this.#clicks.get(`${ordinal}/${firstSequence + index}`);
      if (!click || click.isStored) continue;
      click.mayBeMissing ??= 'the log was truncated before it was read';
      this.#waiting.delete(click);
    }
  }

  fenced(values: string): void {
    this.#break(FENCED, values);
  }

  /** Checks what has to hold once the log is read. @param seen the events that a poller got */
  check(seen: ReadonlySet<string>): void {
    for (const { name, event, fate, isStored, isLettered, mayBeMissing } of this.#clicks.values()) {
      if (fate === 'good' && !isStored && mayBeMissing === null) {
        this.#break(STORED_ONCE, `${name} was answered and is not stored`);
      }
      if (fate !== 'good' && !isLettered && mayBeMissing === null) {
        this.#break('what cannot be stored is a dead letter', `${name} is ${fate} and is none`);
      }
      if (isStored && !seen.has(event))
        this.#break(SEEN_ONCE, `${name} is stored, and the poller did not get it`);
    }
  }

  /** Returns a click that is not stored yet, for a message. */
  firstWaiting(): string {
    const [click] = this.#waiting;
    return click?.name ?? 'none';
  }

  #break(invariant: string, values: string): void {
    this.violation ??= new Violation(invariant, values);
  }
}

const nameOf = (number: number) => `c${number}`;

function shown(micros: number): string {
  return new Date(micros / 1_000).toISOString().slice(11);
}
