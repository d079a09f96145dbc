import type { SchemaFingerprints } from '../events/fingerprints.ts';
import type { TrackedEvent, Unstamped } from '../events/types.ts';

/**
 * The event log as the tiers see it: ingest and api append, workers read and truncate. It is the journal on disk (one
 * partition a stream) or Kafka (many streams a partition).
 */

/** Identity of a stream: registered once in PostgreSQL (`ingest_streams`), then saved beside the journal. */
export type StreamIdentity = {
  /** UUID, permanent. */
  streamId: string;
  /** 0 to 999: the last three digits of every `ts` of this stream. */
  ordinal: number;
  /**
   * Place among the streams of its load, by which they are spread over the partitions of Kafka: from 0 up for busy
   * ones, from -1 down for those that are mostly idle. Left out: the ordinal.
   */
  place?: number;
};

/** `busy`: of ingest, with every click. `idle`: of the API, with what servers report. */
export type StreamLoad = 'busy' | 'idle';

/**
 * A stream as it was registered. `notBefore` is the newest watermark that a poller may have, in microseconds. The
 * first event must not be older, or pollers from that watermark on would miss it.
 */
export type NewStream = StreamIdentity & { notBefore?: number };

/** What PostgreSQL knows of a stream. */
export type StreamRecord = {
  /** `unregistered`: new, or PostgreSQL was restored from an older backup. Null: PostgreSQL did not respond. */
  state: 'active' | 'retired' | 'unregistered' | null;
  /** The newest sequence that workers have stored; -1: none. */
  stored: bigint;
  /** Offset up to which consumers have read a journal of the stream's name, this one or an earlier one; 0: none. */
  readUpTo: bigint;
  /**
   * Every event of the stream before this is visible, so the watermark may have been there. Microseconds; 0: unknown.
   */
  visibleBefore: number;
};

/** The record of a stream while PostgreSQL does not respond. */
export const NOTHING_RECORDED: StreamRecord = { state: null, stored: -1n, readUpTo: 0n, visibleBefore: 0 };

/** The identity of an appended event. */
export type Appended = {
  /** High 24 bits: start epoch; low 40 bits: counter from 0. Contiguous within an epoch, never reused. */
  sequence: bigint;
  /** Microseconds since the epoch. */
  ts: number;
};

export type AppendOutcome = 'written' | 'lost';

/** A loss of events that has not ended. */
export type Loss = {
  /** Why, for people: `disk full`. */
  reason: string;
  /** Milliseconds since the Unix epoch. */
  since: number;
  /** Events lost since then, without heartbeats. */
  events: number;
};

export interface EventLogWriter {
  readonly stream: StreamIdentity;
  /**
   * Adds an event to the batch of this event-loop turn.
   *
   * @param settled called once: with `written` when the turn's batch is written (`JOURNAL_SYNC=always`: synced), or
   *   with `lost` when the budget or the disk rejected it. The caller responds then.
   */
  append(event: Unstamped, settled: (outcome: AppendOutcome) => void): Appended;
  /** Ends the batch now: writes it and settles its events. Each turn's end does so too. */
  flush(): void;
  /** Returns the fraction of the disk budget in use, 0 to 1. */
  fill(): number;
  /** Returns the loss under way; null while events are written. */
  loss(): Loss | null;
  /**
   * Returns whether written events reach workers while their log is up. With Kafka it is false until the shipper has
   * started. Events are accepted meanwhile and wait in the journal.
   */
  ready(): boolean;
  /** Writes and syncs what is pending, then closes. Nothing may be appended afterwards. */
  close(): Promise<void>;
}

/** One batch as it was written, in stream order. */
export type LogBatch = {
  /** Position of this batch in its partition; `nextOffset` is that of the one after it. Opaque, ordered. */
  offset: bigint;
  nextOffset: bigint;
  streamId: string;
  firstSequence: bigint;
  count: number;
  /** Smallest and largest event time. Microseconds. */
  minTs: number;
  maxTs: number;
  /** The encoded events, back to back; see `core/events/codec.ts`. */
  payload: Uint8Array;
  /**
   * The newest sequence of the stream that its process had sent before this batch; -1: none. Left out where the process
   * can't send again what the log loses.
   */
  previous?: bigint;
  /** Fingerprints of the schemas of the events by name (`click.v1`), where the log has them. */
  schemas?: SchemaFingerprints;
};

/** A piece of the log that is not a readable batch: reported and skipped. */
export type LogDamage = { offset: bigint; nextOffset: bigint; reason: string; bytes: Uint8Array };

/** Sequences of a stream that the log has lost, both inclusive. */
export type MissingRange = { from: bigint; to: bigint };

/** What workers have stored of a stream, and what its process is to send again. */
export type StreamNeeds = {
  /** The newest sequence that workers have stored; -1: none. */
  stored: bigint;
  /** Below `stored`, what the log has lost, in order. */
  missing: readonly MissingRange[];
  /** Offsets that the workers' lanes have reached, by partition. */
  reached: ReadonlyMap<string, bigint>;
};

/** The needs of a stream of which workers have stored all up to a sequence; -1: nothing yet. */
export function storedUpTo(stored: bigint): StreamNeeds {
  return { stored, missing: [], reached: new Map() };
}

export interface EventLogReader {
  /** Returns the partitions that exist now. A new stream adds one. */
  partitions(): Promise<string[]>;
  /**
   * Reads whole batches from `offset` on, up to about `maxBytes` (at least one batch when there is one). Resolves
   * with empty lists when nothing comes within `waitMs`.
   *
   * @param options.isQuiet nothing is expected soon: a log that has to be polled may be polled less often
   */
  read(
    partition: string,
    offset: bigint,
    options: { maxBytes: number; waitMs: number; signal?: AbortSignal; isQuiet?: boolean },
  ): Promise<{ batches: LogBatch[]; damage: LogDamage[]; nextOffset: bigint }>;
  /** Returns the first offset that the log still has. A reader below it has lost data. */
  start(partition: string): Promise<bigint>;
  /** Returns the end of the log. `end - next_offset` is the lag, in bytes (journal) or records (Kafka). */
  end(partition: string): Promise<bigint>;
  /**
   * Requests heartbeats of all writers at short intervals for some seconds. A writer without events may rest otherwise,
   * and holds the watermark meanwhile.
   */
  requestHeartbeats(): void;
  /** Truncates the log below `offset`, the least offset of all consumers. */
  truncate(partition: string, offset: bigint): Promise<void>;
  close(): Promise<void>;
}

export type DecodedEvent = { sequence: bigint; event: TrackedEvent };
