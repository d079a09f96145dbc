import type { DecodedEvent, LogBatch } from '../../core/event-log/port.ts';
import type { TrackedEvent } from '../../core/events/types.ts';
import { Violation } from '../history.ts';

/** What was answered to a visitor. */
type Click = {
  name: string;
  outcome: 'written' | 'lost' | null;
  /** Of the monotonic clock. Milliseconds. */
  answeredAt: number;
  /** Why it may be missing although it was answered; null: it may not. */
  mayBeMissing: string | null;
  /** Why it may be there although it was refused; null: it may not. */
  mayBeStored: string | null;
};

/** What a worker has read of an event. `name`: of a click. */
type Seen = { name: string | null; ts: number };

/** What a worker has read of a stream. */
type ReadStream = { seen: Map<bigint, Seen>; stored: Set<bigint>; lastSequence: bigint; lastTs: number };

/**
 * What happened to each click, as its visitor and the worker saw it, and the invariants of both. They are named in
 * `docs/guarantees.md`.
 */
export class ClickLedger {
  /** Of what a power cut forgets, later frames may be whole. */
  mayHaveGaps = false;
  /** A copy that was put back may have what a power cut took, behind what was stored since. */
  mayRepeat = false;
  readonly #clicks = new Map<string, Click>();
  readonly #streams = new Map<string, ReadStream>();
  readonly #sequenceOf = new Map<string, bigint>();

  get clicks(): number {
    return this.#clicks.size;
  }

  get seen(): number {
    return this.#sequenceOf.size;
  }

  has(name: string): boolean {
    return this.#sequenceOf.has(name);
  }

  asked(name: string): void {
    this.#clicks.set(name, { name, outcome: null, answeredAt: 0, mayBeMissing: null, mayBeStored: null });
  }

  answered(name: string, outcome: 'written' | 'lost', at: number, mayBeStored: string | null): void {
    const click = this.#clicks.get(name);
    if (!click) throw new Error(`no click ${name}`);
    if (click.outcome !== null) throw new Violation('an append settles once', `${name} settled twice`);
    click.outcome = outcome;
    click.answeredAt = at;
    click.mayBeStored = mayBeStored;
  }

  /** Notes that clicks which were answered from `since` on may be lost. */
  excuse(since: number, reason: string): void {
    for (const click of this.#clicks.values()) {
      if (click.outcome !== 'lost' && click.answeredAt >= since) click.mayBeMissing ??= reason;
    }
  }

  /** Returns the clicks that were answered as written since a time. */
  writtenSince(since: number): string[] {
    return [...this.#clicks.values()]
      .filter(({ outcome, answeredAt }) => outcome === 'written' && answeredAt >= since)
      .map(({ name }) => name);
  }

  /** Notes that clicks may be lost. */
  excuseNamed(names: Iterable<string>, reason: string): void {
    for (const name of names) {
      const click = this.#clicks.get(name);
      if (click) click.mayBeMissing ??= reason;
    }
  }

  outcomeOf(name: string): Click['outcome'] {
    return this.#clicks.get(name)?.outcome ?? null;
  }

  /**
   * Forgets the newest time of each stream: nobody is left who knows it. A power cut has taken the latest heartbeats,
   * and PostgreSQL is down or has gone back.
   */
  forgetTimes(): void {
    for (const stream of this.#streams.values()) stream.lastTs = 0;
  }

  /** Takes in what a worker has read and not stored yet. An event that comes again has to be the same. */
  read({ streamId, firstSequence, count }: LogBatch, events: readonly DecodedEvent[]): void {
    if (events.length !== count) {
      throw new Violation('a batch is read whole', `${events.length} of ${count} events can be decoded`);
    }
    const { seen } = this.#stream(streamId);
    for (const [index, { sequence, event }] of events.entries()) {
      if (sequence !== firstSequence + BigInt(index)) {
        throw new Violation('sequences of a batch are contiguous', `${shown(sequence)} at place ${index}`);
      }
      const known = seen.get(sequence);
      const now = { name: nameOf(event), ts: event.ts };
      seen.set(sequence, now);
      if (known && (known.name !== now.name || known.ts !== now.ts)) {
        throw new Violation(
          'a sequence names one event',
          `${shown(sequence)} was ${said(known)} and is ${said(now)}`,
        );
      }
    }
  }

  /** Takes in what a worker has stored. */
  stored({ streamId }: LogBatch, events: readonly DecodedEvent[]): void {
    const stream = this.#stream(streamId);
    for (const decoded of events) {
      // Read again after a restart of the worker, or after PostgreSQL went back.
      if (!stream.stored.has(decoded.sequence)) this.#storeOne(stream, decoded);
    }
  }

  #storeOne(stream: ReadStream, { sequence, event }: DecodedEvent): void {
    const name = nameOf(event);
    const { lastSequence, lastTs } = stream;
    if (sequence <= lastSequence) {
      if (this.mayRepeat) return; // a lane takes it for stored
      throw new Violation(
        'sequences of a stream increase',
        `${shown(sequence)} comes after ${shown(lastSequence)}`,
      );
    }
    const isSameEpoch = sequence >> 40n === lastSequence >> 40n;
    if (isSameEpoch && sequence !== lastSequence + 1n && !this.mayHaveGaps) {
      throw new Violation(
        'no event of a stream is skipped',
        `${shown(sequence)} comes after ${shown(lastSequence)}`,
      );
    }
    if (event.ts <= lastTs && event.kind !== 'clock') {
      throw new Violation(
        'time in a stream goes forward',
        `${said({ name })} at ${time(event.ts)} comes after an event at ${time(lastTs)}, and no correction between`,
      );
    }
    stream.lastSequence = sequence;
    stream.lastTs = event.ts;
    stream.stored.add(sequence);
    if (name === null) return;
    const other = this.#sequenceOf.get(name);
    if (other !== undefined) {
      throw new Violation(
        'an answered click is stored exactly once',
        `${name} is stored as ${shown(other)} and as ${shown(sequence)}`,
      );
    }
    this.#sequenceOf.set(name, sequence);
  }

  #stream(streamId: string): ReadStream {
    const stream = this.#streams.get(streamId) ?? {
      seen: new Map(),
      stored: new Set(),
      lastSequence: -1n,
      lastTs: 0,
    };
    this.#streams.set(streamId, stream);
    return stream;
  }

  /** Checks what has to hold once everything that exists was read. */
  check(): void {
    for (const { name, outcome, mayBeMissing, mayBeStored } of this.#clicks.values()) {
      const isStored = this.#sequenceOf.has(name);
      if (outcome === 'written' && !isStored && mayBeMissing === null) {
        throw new Violation(
          'an answered click is stored exactly once',
          `${name} was answered and is not stored`,
        );
      }
      if (outcome === 'lost' && isStored && mayBeStored === null) {
        throw new Violation('nothing that was refused is stored', `${name} was refused and is stored`);
      }
    }
    for (const name of this.#sequenceOf.keys()) {
      if (!this.#clicks.has(name)) throw new Violation('nothing is stored that nobody sent', name);
    }
  }
}

function shown(sequence: bigint): string {
  return sequence < 0n ? 'none' : `${sequence >> 40n}/${sequence & 0xff_ffff_ffffn}`;
}

function nameOf(event: TrackedEvent): string | null {
  return event.kind === 'click' ? event.userAgent.slice(0, event.userAgent.indexOf(' ')) : null;
}

function said({ name }: Pick<Seen, 'name'>): string {
  return name ?? 'an event of the stream itself';
}

function time(micros: number): string {
  return new Date(micros / 1_000).toISOString();
}
