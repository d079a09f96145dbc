import { createEventEncoder } from '../../core/events/codec.ts';
import { testClick, testSealer } from '../../test/support/journal.ts';
import type { Process, World } from '../world/world.ts';
import type { LaneLedger } from './ledger.ts';
import type { Batch } from './log.ts';
import type { Shipper } from './shipper.ts';

const BATCH_BYTES = 65_536;
const COUNTER_BITS = 40n;

const encode = createEventEncoder();
/** A heartbeat has no address to seal. */
const NO_PADS = Buffer.alloc(0);
/** Of every batch, until it is whole. */
const buffer = Buffer.alloc(BATCH_BYTES);

export type Stream = { streamId: string; ordinal: number; notBefore: number };
/** Numbers the clicks, and notes those that are in the log. */
export type ClickLedger = Pick<LaneLedger, 'next' | 'answered'>;

/** A writer of a stream: ingest, and its journal, whose part another simulation plays. */
export class Writer {
  readonly process: Process;
  readonly stream: Stream;
  /** By how much its clock is ahead. Milliseconds. */
  readonly skewMs: number;
  readonly #world: World;
  readonly #ledger: ClickLedger;
  readonly #userAgent: string;
  #epoch = 1n;
  #counter = 0n;
  #lastTs: number;
  readonly #shipper: Shipper;

  constructor(
    world: World,
    given: {
      process: Process;
      stream: Stream;
      shipper: Shipper;
      ledger: ClickLedger;
      skewMs: number;
      heartbeatMs: number;
      userAgent?: string;
    },
  ) {
    this.#world = world;
    this.stream = given.stream;
    this.#shipper = given.shipper;
    this.skewMs = given.skewMs;
    this.#ledger = given.ledger;
    this.#userAgent = given.userAgent ?? 'sim';
    this.#lastTs = given.stream.notBefore;
    this.process = given.process;
    const beat = () => {
      this.#append([{ kind: 'heartbeat' }]);
      world.schedule(given.heartbeatMs, beat, this.process);
    };
    world.schedule(world.random.between(0, given.heartbeatMs), beat, this.process);
  }

  /** Answers clicks, which the log then holds. @param malformed how many of them can't be decoded */
  click(count: number, { malformed = 0, poisoned = 0 } = {}): void {
    const names = Array.from({ length: count }, () => this.#ledger.next());
    this.#append(
      names.map((number, index) => ({
        kind: 'click' as const,
        number,
        isMalformed: index < malformed,
        isPoisoned: index >= malformed && index < malformed + poisoned,
      })),
    );
  }

  /** Starts again: counts from 0 in a new epoch. */
  restart(): void {
    this.#epoch += 1n;
    this.#counter = 0n;
    this.#shipper.restart();
  }

  /** Sends the last batches again, as a producer whose session has ended. */
  repeat(batches: number): void {
    this.#shipper.repeat(batches);
  }

  #append(events: readonly Appended[]): void {
    const firstSequence = (this.#epoch << COUNTER_BITS) | this.#counter;
    const hasClicks = events.some(({ kind }) => kind === 'click');
    const pads = hasClicks ? testSealer.pads(this.stream.streamId, firstSequence, events.length) : NO_PADS;
    let end = 0;
    let minTs = 0;
    events.forEach((event, index) => {
      const now = Math.floor((this.#world.trueTime() + this.skewMs) * 1_000);
      const ts = Math.max(now, this.#lastTs + 1);
      this.#lastTs = ts;
      if (index === 0) minTs = ts;
      const sequence = firstSequence + BigInt(index);
      const from = end;
      if (event.kind === 'heartbeat') {
        end = encode({ kind: 'heartbeat' }, ts, { bytes: pads, position: index * 16 }, buffer, end);
        return;
      }
      const linkId = Buffer.alloc(16);
      linkId.writeUInt32BE(event.number, 12);
      const click = testClick(this.#userAgent, { linkId, visitorId: linkId });
      end = encode(click, ts, { bytes: pads, position: index * 16 }, buffer, end);
      if (event.isMalformed) buffer[from + 4] = 99; // no kind of an event
      const fate = event.isMalformed ? 'malformed' : event.isPoisoned ? 'poisoned' : 'good';
      this.#ledger.answered({ number: event.number, stream: this.stream, sequence, ts, fate });
    });
    this.#counter += BigInt(events.length);
    const { streamId } = this.stream;
    const payload = Buffer.from(buffer.subarray(0, end));
    const batch: Batch['batch'] = {
      ...{ streamId, firstSequence, count: events.length, minTs, maxTs: this.#lastTs },
      payload,
    };
    this.#shipper.send({ batch });
  }
}

type Appended =
  | { kind: 'heartbeat' }
  | { kind: 'click'; number: number; isMalformed: boolean; isPoisoned: boolean };
