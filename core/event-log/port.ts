import type { SchemaFingerprints } from '../events/fingerprints.ts';
import type { TrackedEvent, Unstamped } from '../events/types.ts';

/**
 * The event log as the tiers see it: ingest and api append, workers read and free. The same code runs on
 * the journal on disk (one partition per stream) and on Kafka (many streams per partition).
 */

/** Who writes a stream. Registered once in Postgres (`ingest_streams`), then kept beside the journal. */
export type StreamIdentity = {
  /** UUID, permanent. */
  streamId: string;
  /** 0 to 999: the last three digits of every `ts` of this stream. */
  ordinal: number;
};

/**
 * A stream as it was registered. `notBefore`: microseconds, the newest watermark that may have been handed out. The
 * first event may not be older, or whoever polls from that watermark on would miss it.
 */
export type NewStream = StreamIdentity & { notBefore?: number };

/** What the records (Postgres) know of a stream. */
export type StreamRecord = {
  /** `unregistered`: it is new, or the records were put back from a backup that is older than it. Null: nobody answered. */
  state: 'active' | 'retired' | 'unregistered' | null;
  /** The newest sequence that workers have stored; -1: none. */
  stored: bigint;
  /** How far consumers have come in a journal of the stream's name, be it this one or an earlier one; 0: nowhere. */
  readUpTo: bigint;
};

/** Of a stream about which nobody answers. */
export const NOTHING_RECORDED: StreamRecord = { state: null, stored: -1n, readUpTo: 0n };

/** What an append answers at once: where the event stands and when it happened. */
export type Appended = {
  /** High 24 bits: start epoch; low 40 bits: counter from 0. Contiguous within an epoch, never re-used. */
  sequence: bigint;
  /** Microseconds since the epoch. */
  ts: number;
};

export type AppendOutcome = 'written' | 'lost';

export interface EventLogWriter {
  readonly stream: StreamIdentity;
  /**
   * Takes an event into the batch of this event-loop turn.
   *
   * @param settled called once when the turn's batch has been written (`JOURNAL_SYNC=always`: synced), or
   *   with `lost` when the disk budget or the disk itself refused it. The caller answers then.
   */
  append(event: Unstamped, settled: (outcome: AppendOutcome) => void): Appended;
  /** Ends the batch now: writes it and settles its events. At the end of each turn it happens by itself. */
  flush(): void;
  /** Fraction of the disk budget in use, 0 to 1. */
  fill(): number;
  /**
   * Whether what is written gets to workers while their log is up. With Kafka it is false until the shipper has started:
   * a process that is not ready takes events into its journal, and they wait there.
   */
  ready(): boolean;
  /** Writes and syncs what is pending, then closes. Nothing may be appended afterwards. */
  close(): Promise<void>;
}

/** One batch as it was written, in stream order. */
export type LogBatch = {
  /** Position of this batch in its partition, and of the one after it. Opaque, ordered. */
  offset: bigint;
  nextOffset: bigint;
  streamId: string;
  firstSequence: bigint;
  count: number;
  /** Smallest and largest event time, microseconds. */
  minTs: number;
  maxTs: number;
  /** The encoded events, back to back; see `core/events/codec.ts`. */
  payload: Uint8Array;
  /** Fingerprints of the schemas that the events were written with, by name (`click.v1`), where the log says so. */
  schemas?: SchemaFingerprints;
};

/** A piece of the log that could not be read as a batch: set aside, reported, never in the way. */
export type LogDamage = { offset: bigint; nextOffset: bigint; reason: string; bytes: Uint8Array };

export interface EventLogReader {
  /** The partitions that exist now. A new stream adds one. */
  partitions(): Promise<string[]>;
  /**
   * Reads whole batches from `offset` on, up to about `maxBytes` (at least one batch when there is one).
   * Resolves with empty lists after `waitMs` when nothing has come.
   */
  read(
    partition: string,
    offset: bigint,
    options: { maxBytes: number; waitMs: number; signal?: AbortSignal },
  ): Promise<{ batches: LogBatch[]; damage: LogDamage[]; nextOffset: bigint }>;
  /** First offset still held. A reader that asks for less has lost data: an alarm. */
  start(partition: string): Promise<bigint>;
  /** End of what has been written: `end - next_offset` is the lag in bytes or records. */
  end(partition: string): Promise<bigint>;
  /** Everything below `offset` may be dropped. Called with the least offset of all consumers. */
  free(partition: string, offset: bigint): Promise<void>;
  close(): Promise<void>;
}

export type DecodedEvent = { sequence: bigint; event: TrackedEvent };
