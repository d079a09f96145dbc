import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Batch, Consumer, Kafka } from 'kafkajs';
import type { KafkaSettings } from '../../settings/config.ts';
import { linkSignals } from '../../tier/linked-signal.ts';
import type { Logger } from '../../tier/log.ts';
import type { EventLogReader } from '../port.ts';
import { PartitionBuffer } from './partition-buffer.ts';
import { countLed, countUnderReplicated, LOOK_FOR_PARTITIONS_MS, readPartitions } from './partitions.ts';
import { explainError } from './refusals.ts';
import { ensureTopic } from './topic.ts';

const REOPEN_MS = 250;
/** A partition that brought nothing for this long is fetched again: a seek may be lost when the consumer ends. */
const SILENT_MS = 5_000;
/** A partition without a read for this long is no longer fetched: another worker has its lane. */
const UNUSED_MS = 5_000;

type ReadOptions = { maxBytes: number; waitMs: number; signal?: AbortSignal };
type ReadResult = Awaited<ReturnType<EventLogReader['read']>>;

/**
 * Reads the topic from the offsets of the lanes. Progress is in PostgreSQL. The consumer group, which the client
 * requires, is this reader's alone and commits nothing; `seek` moves it, and a buffer for each partition says where
 * to.
 *
 * A reader has one position in each partition. Two consumers on one reader get correct results, but each read fetches
 * again: give each consumer its own.
 */
export class KafkaReader implements EventLogReader {
  readonly #client: Kafka;
  readonly #kafka: KafkaSettings;
  readonly #log: Logger;
  readonly #admin: Admin;
  readonly #onUnderReplicated: (partitions: number) => void;
  readonly #buffers = new Map<number, PartitionBuffer>();
  /** Partitions that the client should fetch. It may fetch others for a moment after a restart. */
  readonly #fetching = new Set<number>();
  readonly #receivedAt = new Map<number, number>();
  readonly #queues = new Map<number, Promise<unknown>>();
  readonly #closing = new AbortController();
  #partitions: Promise<string[]> | null = null;
  #lookedAt = 0;
  #consumer: Consumer | null = null;
  #opening: Promise<void> | null = null;

  /** @param onUnderReplicated called every ten seconds with the number of partitions that lack a replica in sync */
  constructor(
    client: Kafka,
    kafka: KafkaSettings,
    log: Logger,
    onUnderReplicated = (_partitions: number) => {},
  ) {
    this.#onUnderReplicated = onUnderReplicated;
    this.#client = client;
    this.#kafka = kafka;
    this.#log = log;
    this.#admin = client.admin();
  }

  /**
   * Returns the topic's partitions. Added partitions are included after some seconds.
   *
   * @throws {ConfigError} when the topic does not match the settings
   * @throws {RefusedByBrokers} when they reject this process, or it them; the client's error when no broker responds
   */
  partitions(): Promise<string[]> {
    this.#partitions ??= this.#open().catch((error: unknown) => {
      this.#partitions = null;
      throw explainError(error, this.#kafka);
    });
    const now = performance.now();
    if (this.#buffers.size > 0 && now - this.#lookedAt > LOOK_FOR_PARTITIONS_MS) {
      this.#lookedAt = now;
      this.#dropUnused();
      this.#lookForMore().catch((error: unknown) => {
        this.#log.debug({ err: error }, 'failed to look for new partitions; will retry');
      });
    }
    return this.#partitions;
  }

  /**
   * Drops paused partitions that are no longer read: they bring no fetch that would show that another worker has their
   * lane.
   */
  #dropUnused(): void {
    for (const [number, buffer] of this.#buffers) {
      if (!this.#fetching.has(number) || performance.now() - buffer.usedAt <= UNUSED_MS) continue;
      this.#fetching.delete(number);
      buffer.drop();
      this.#pause(number);
    }
  }

  /** Adds new partitions. The client's consumer has those of its start only, so another one takes its place. */
  async #lookForMore(): Promise<void> {
    const partitions = await readPartitions(this.#admin, this.#kafka.topic);
    this.#onUnderReplicated(countUnderReplicated(partitions));
    const count = countLed(partitions, this.#kafka.topic);
    if (count <= this.#buffers.size || this.#closing.signal.aborted) return;
    this.#log.info({ topic: this.#kafka.topic, partitions: count }, 'the topic has new partitions');
    this.#partitions = Promise.resolve(this.#addBuffers(count));
    await this.#opening?.catch(() => undefined);
    const before = this.#consumer;
    if (!before) return;
    this.#consumer = null;
    this.#opening = null;
    await before.disconnect();
  }

  #addBuffers(count: number): string[] {
    for (let number = this.#buffers.size; number < count; number++) {
      this.#buffers.set(number, new PartitionBuffer());
    }
    return Array.from({ length: count }, (_, number) => `${this.#kafka.topic}/${number}`);
  }

  async read(partition: string, offset: bigint, options: ReadOptions): Promise<ReadResult> {
    // Not an empty result: a caller in a loop would starve the event loop.
    if (this.#closing.signal.aborted) throw new Error('the reader of Kafka is closed');
    const { signal, release } = linkSignals(this.#closing.signal, options.signal);
    try {
      if (await unlessAborted(this.#consume(), signal)) {
        return await this.#enqueue(this.#numberOf(partition), offset, options, signal);
      }
      return { batches: [], damage: [], nextOffset: offset };
    } finally {
      release();
    }
  }

  #enqueue(number: number, offset: bigint, options: ReadOptions, signal: AbortSignal): Promise<ReadResult> {
    // Reads run one after the other: no other read may move the buffer during a wait.
    const before = this.#queues.get(number);
    const turn = (async () => {
      await before;
      return this.#take(number, offset, options, signal);
    })();
    this.#queues.set(
      number,
      turn.catch(() => undefined),
    );
    return turn;
  }

  async start(partition: string): Promise<bigint> {
    return BigInt((await this.#offsets(partition)).low);
  }

  async end(partition: string): Promise<bigint> {
    return BigInt((await this.#offsets(partition)).high);
  }

  /** Does nothing: writers with a shipper do not rest. */
  requestHeartbeats(): void {}

  /** Does nothing: the topic's retention truncates. */
  async truncate(): Promise<void> {}

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => undefined);
    await Promise.allSettled([this.#consumer?.disconnect(), this.#admin.disconnect()]);
  }

  async #take(
    number: number,
    offset: bigint,
    options: ReadOptions,
    signal: AbortSignal,
  ): Promise<ReadResult> {
    const buffer = this.#buffer(number);
    if (buffer.moveTo(offset) || !this.#fetching.has(number)) {
      this.#fetching.add(number);
      this.#seek(number);
    }
    await buffer.filled(options.waitMs, signal);
    const taken = buffer.take(options.maxBytes);
    if (taken.nextOffset > offset) this.#receivedAt.set(number, performance.now());
    else if (performance.now() - (this.#receivedAt.get(number) ?? 0) > SILENT_MS) this.#seek(number);
    if (buffer.wantsMore()) {
      this.#control((consumer) => consumer.resume([{ topic: this.#kafka.topic, partitions: [number] }]));
    }
    return taken;
  }

  async #open(): Promise<string[]> {
    await this.#admin.connect();
    this.#lookedAt = performance.now();
    return this.#addBuffers(await ensureTopic(this.#admin, this.#kafka, this.#log));
  }

  #numberOf(partition: string): number {
    const front = `${this.#kafka.topic}/`;
    const number = partition.startsWith(front) ? Number(partition.slice(front.length)) : Number.NaN;
    if (!this.#buffers.has(number)) throw new RangeError(`topic ${this.#kafka.topic} has no ${partition}`);
    return number;
  }

  #buffer(number: number): PartitionBuffer {
    const buffer = this.#buffers.get(number);
    if (!buffer) throw new RangeError(`topic ${this.#kafka.topic} has no partition ${number}`);
    return buffer;
  }

  async #offsets(partition: string): Promise<{ low: string; high: string }> {
    await this.partitions();
    const number = this.#numberOf(partition);
    const all = await this.#admin.fetchTopicOffsets(this.#kafka.topic);
    const found = all.find((one) => one.partition === number);
    if (!found) throw new RangeError(`no broker returned the offsets of ${partition}`);
    return found;
  }

  #consume(): Promise<void> {
    this.#opening ??= this.#startConsumer().catch((error: unknown) => {
      this.#opening = null;
      throw explainError(error, this.#kafka);
    });
    return this.#opening;
  }

  async #startConsumer(): Promise<void> {
    await this.partitions();
    const consumer = this.#client.consumer({
      groupId: `hoplog-reader-${randomUUID()}`,
      allowAutoTopicCreation: false,
      maxWaitTimeInMs: 100,
      minBytes: 1,
      maxBytesPerPartition: 4 * 1024 * 1024,
      sessionTimeout: 10_000,
      heartbeatInterval: 2_000,
      // After an outage the client would rejoin its group as a new member and wait for the old one to expire. A new
      // group has none.
      retry: { retries: 5, restartOnFailure: async () => false },
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      if (this.#closing.signal.aborted) return;
      this.#log.warn(
        { err: explainError(payload.error, this.#kafka) },
        'the Kafka consumer has ended; opening another',
      );
      void delay(REOPEN_MS, undefined, { signal: this.#closing.signal })
        .then(() => {
          this.#opening = null;
          return this.#consume(); // for waiting reads; the next one tries again
        })
        .catch(() => undefined);
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic: this.#kafka.topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: true,
        partitionsConsumedConcurrently: this.#buffers.size,
        eachBatch: ({ batch }) => this.#receive(batch),
      });
    } catch (error) {
      await consumer.disconnect().catch(() => undefined);
      throw error;
    }
    this.#consumer = consumer;
    for (const number of this.#fetching) this.#seek(number);
  }

  async #receive(batch: Batch): Promise<void> {
    const number = batch.partition;
    const buffer = this.#buffers.get(number);
    if (buffer && performance.now() - buffer.usedAt > UNUSED_MS) {
      this.#fetching.delete(number);
      buffer.drop();
    }
    if (!buffer || !this.#fetching.has(number)) {
      this.#pause(number);
      return;
    }
    const outcome = buffer.offer({
      requested: requestedOffset(batch),
      end: BigInt(batch.lastOffset()) + 1n,
      messages: batch.messages,
    });
    if (outcome === 'ahead') {
      const { position } = buffer;
      const start = await this.start(`${this.#kafka.topic}/${number}`);
      if (position < start && buffer.position === position) buffer.skipTo(start);
    }
    // The client restarted, or a seek overtook this fetch.
    if (outcome !== 'taken') this.#seek(number);
    else if (!buffer.wantsMore()) this.#pause(number);
  }

  #pause(partition: number): void {
    this.#control((consumer) => consumer.pause([{ topic: this.#kafka.topic, partitions: [partition] }]));
  }

  #seek(partition: number): void {
    const { topic } = this.#kafka;
    const offset = String(this.#buffer(partition).position);
    this.#receivedAt.set(partition, performance.now());
    this.#control((consumer) => {
      consumer.seek({ topic, partition, offset });
      consumer.resume([{ topic, partitions: [partition] }]);
    });
  }

  /** Controls the consumer. One that has just ended throws; the next one begins at the buffers' positions. */
  #control(what: (consumer: Consumer) => void): void {
    try {
      if (this.#consumer) what(this.#consumer);
    } catch (error) {
      this.#log.debug({ err: error }, 'the Kafka consumer has ended');
    }
  }
}

/**
 * Returns the offset that a fetch requested. The client's types leave it out (kafkajs 2.2.4,
 * `src/consumer/batch.js`).
 */
function requestedOffset(batch: Batch & { fetchedOffset?: string }): bigint {
  if (batch.fetchedOffset === undefined)
    throw new TypeError('the batch of the client has no `fetchedOffset`');
  return BigInt(batch.fetchedOffset);
}

/** Waits for `work`. @returns false when the signal comes first */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  let stop = () => {};
  const aborted = new Promise<boolean>((resolve) => {
    stop = () => resolve(false);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work.then(() => true), aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
