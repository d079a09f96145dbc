import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Message, Producer } from 'kafkajs';
import { ConfigError, type KafkaSettings } from '../../settings/config.ts';
import type { Logger } from '../../tier/log.ts';
import { MAX_PAYLOAD_BYTES } from '../journal/frame.ts';
import { offsetHolding } from '../journal/own-batches.ts';
import { JournalReader } from '../journal/reader.ts';
import { streamDirectory } from '../journal/segments.ts';
import { type LogBatch, type LogDamage, type StreamIdentity, type StreamNeeds, storedUpTo } from '../port.ts';
import { allStored, type Told } from './all-stored.ts';
import { COMPRESSION, RecordTooLarge } from './compression.ts';
import { countPartitions, endOf, LOOK_FOR_PARTITIONS_MS, partitionOf } from './partitions.ts';
import { mergeBatches, toDamageMessage, toMessage } from './record.ts';
import { explainError, RefusedByBrokers } from './refusals.ts';
import { createSendAgain } from './send-again.ts';
import { readShipperState, type ShipperState, writeShipperState } from './shipper-state.ts';
import { ensureTopic } from './topic.ts';

const READ_BYTES = 2 * 1024 * 1024;
/**
 * Bytes of one merged record before compression: one read, which exceeds its limit by one batch. Clicks compress to a
 * fourth, and larger records cost both sides less CPU time.
 */
const MERGED_BYTES = READ_BYTES + MAX_PAYLOAD_BYTES;
/** Size of a record that did not compress enough: it fits into the topic's limit uncompressed. */
const SMALL_BYTES = MAX_PAYLOAD_BYTES;
/** Memory of one read, which begins with small chunks and exceeds its limit by a large one. */
const ARENA_BYTES = 2 * READ_BYTES;
const WAIT_MS = 500;
/**
 * While clicks keep coming, those within this time share a record: each record costs both sides about a millisecond
 * of CPU time. The first click after a pause is sent at once.
 */
const LINGER_MS = 80;
const RETRY_MS = 250;
/** Retry interval for a wrong setting, which may be corrected at the topic. */
const WRONG_SETTING_MS = 30_000;
/** Retry interval for brokers that reject this process; their settings may change. */
const REFUSED_MS = 3_000;
const SAVE_STATE_MS = 500;
/** Share of the journal's budget above which the journal is truncated before workers have stored its events. */
const PRESSURE = 0.5;

export type ShipperOptions = {
  client: Kafka;
  kafka: KafkaSettings;
  dataDir: string;
  streamName: string;
  stream: StreamIdentity;
  log: Logger;
  onShipped: (events: number) => void;
  /** Called when events were sent that the log had lost. */
  onSentAgain?: (events: number) => void;
  /** Called when the journal no longer holds what the log has lost up to a sequence. */
  onUnsendable?: (sequence: bigint) => void;
  /** Called when sending fails (`true`) and when it works again (`false`). */
  onOutage: (out: boolean) => void;
};

export type Shipper = {
  /** Resolves when the shipper has ended, with the error that ended it before it was stopped, if any. */
  ended: Promise<Error | null>;
  /**
   * Truncates the journal up to what Kafka has acknowledged. Normally workers must have stored it too, since a restart
   * of the stream counts the rest (`max_clicks`). Under pressure it truncates further and saves how far. What the log
   * has lost is sent again.
   *
   * @param needs what workers have stored of the stream; null: not known
   * @param fill share of the journal's budget in use
   * @throws the error of the disk when the state can't be saved; then only what workers have stored is truncated
   */
  truncate(needs: StreamNeeds | null, fill: number): Promise<void>;
  /** Ships what the journal holds now, at most for `withinMs`, and ends. */
  stop(withinMs: number): Promise<void>;
};

/**
 * Ships a stream's journal to its partition, in order. Each record is acknowledged by all in-sync replicas before the
 * next ones are sent. A send with an unknown outcome is repeated. Consumers deduplicate by sequence, so the producer
 * is not idempotent: idempotence would end with its session.
 */
export function startShipper(options: ShipperOptions): Shipper {
  const { client, kafka, dataDir, streamName, log, onShipped, onOutage } = options;
  const directory = streamDirectory(dataDir, streamName);
  const reader = new JournalReader(dataDir, ARENA_BYTES);
  const merged = Buffer.allocUnsafeSlow(MERGED_BYTES);
  const small = merged.subarray(0, SMALL_BYTES);
  const stopping = new AbortController();
  const ending = new AbortController();
  let state: ShipperState | null = readShipperState(directory);
  let savedAt = 0;
  let isRefused = false;
  /** What workers have stored of the stream, and the fill of the journal, as last received. */
  let told: Told = { needs: storedUpTo(-1n), fill: 0 };
  const sendAgain = createSendAgain({
    ...options,
    isStopping: () => stopping.signal.aborted,
    maxBytes: READ_BYTES,
  });

  /**
   * Saves the offset, or continues without: a full disk has no block for it, and shipping is what frees the disk.
   * Logged once.
   */
  function save(at: ShipperState): void {
    savedAt = performance.now();
    try {
      writeShipperState(directory, at);
      isRefused = false;
    } catch (error) {
      if (!isRefused) log.warn({ err: error, directory }, "failed to save the shipper's offset; continuing");
      isRefused = true;
    }
  }

  async function open(): Promise<Producer> {
    const admin = client.admin();
    try {
      await admin.connect();
      const partitions = await ensureTopic(admin, kafka, log);
      const logName = `${(await admin.describeCluster()).clusterId}/${kafka.topic}`;
      // A topic that was created again, with fewer partitions, has nothing yet either.
      if (state?.log !== logName || state.partition >= partitions) {
        const { truncatedAhead = -1n } = state ?? {};
        const partition = partitionOf(options.stream, partitions);
        state = { log: logName, partition, offset: 0n, acknowledged: -1n, truncatedAhead };
      }
      save(state);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    const producer = await connect();
    onOutage(false);
    return producer;
  }

  async function connect(): Promise<Producer> {
    const producer = client.producer({
      allowAutoTopicCreation: false,
      idempotent: false,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    return producer;
  }

  /**
   * Moves the stream to another partition when the topic has more of them now. Another lane reads that one, and both
   * compare with one high-water mark of the stream. So nothing is sent there until workers have stored all that was
   * sent. Otherwise the rest of the former partition would count as duplicates. Sequences continue in their epoch: the
   * former partition then holds nothing unread of the stream that another epoch could fence.
   *
   * @returns the producer to send with
   */
  async function moveIfDue(producer: Producer, at: ShipperState): Promise<Producer> {
    const admin = client.admin();
    let partition: number;
    let end: bigint;
    try {
      await admin.connect();
      partition = partitionOf(options.stream, await countPartitions(admin, kafka.topic));
      if (partition === at.partition) return producer;
      end = await endOf(admin, kafka.topic, at.partition);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    const sent = { sequence: at.acknowledged, partition: `${kafka.topic}/${at.partition}`, end };
    if (!(await allStored(sent, () => told, stopping.signal))) return producer;
    // Without a saved move, a restart would send to the former partition again.
    writeShipperState(directory, { ...at, partition });
    log.info({ from: at.partition, to: partition }, 'the topic has new partitions; the stream has moved');
    at.partition = partition;
    return reconnected(producer);
  }

  /** The client asks for the partitions of a topic when it connects, and then each five minutes. */
  async function reconnected(producer: Producer): Promise<Producer> {
    await producer.disconnect().catch(() => undefined);
    return untilDone('connect', connect);
  }

  /** Repeats a step until it succeeds. A cause is logged once. */
  async function untilDone<T>(what: string, step: () => Promise<T>): Promise<T> {
    let loggedCause = '';
    for (let failures = 0; ; failures++) {
      try {
        const result = await step();
        if (failures > 0) {
          onOutage(false);
          log.info({ what, failures }, 'Kafka responds again');
        }
        return result;
      } catch (thrown) {
        ending.signal.throwIfAborted();
        if (thrown instanceof RecordTooLarge || thrown instanceof UnknownPartition) throw thrown;
        const error = explainError(thrown, kafka);
        const wrongSetting = error instanceof ConfigError || error instanceof RefusedByBrokers;
        const cause = wrongSetting ? error.message : 'unreachable';
        if (failures === 0) onOutage(true);
        if (cause !== loggedCause) {
          if (wrongSetting) log.error(`${error.message}: events wait in the journal until this is corrected`);
          else log.warn({ what, err: error }, 'Kafka does not accept events; they wait in the journal');
          loggedCause = cause;
        }
        await delay(pauseAfter(error), undefined, { signal: ending.signal });
      }
    }
  }

  /** @returns the offset of the record */
  function send(producer: Producer, message: Message): Promise<bigint> {
    return untilDone('send', async () => {
      const sent = await producer.send({
        topic: kafka.topic,
        acks: -1,
        timeout: 5_000,
        compression: COMPRESSION,
        messages: [message],
      });
      // The client drops messages for a partition that it does not know, without an error (kafkajs 2.2.4,
      // `src/cluster/index.js`, `findLeaderForPartitions`).
      const [record] = sent;
      if (record === undefined) throw new UnknownPartition(message.partition);
      return BigInt(record.baseOffset ?? record.offset ?? 0);
    });
  }

  async function ship(
    producer: Producer,
    at: ShipperState,
    read: { batches: LogBatch[]; damage: LogDamage[] },
  ): Promise<void> {
    for (const piece of read.damage) {
      log.error(
        { offset: String(piece.offset), reason: piece.reason },
        'the journal is damaged; shipping the damage as a dead letter',
      );
      await send(producer, toDamageMessage(piece, options.stream.streamId, at.partition));
    }
    await inRecords(read.batches, (record) => sendRecord(producer, at, record));
  }

  /** Sends batches as few records: as smaller ones where they do not compress enough. */
  async function inRecords(
    batches: readonly LogBatch[],
    sendOne: (record: LogBatch) => Promise<void>,
  ): Promise<void> {
    for (const record of mergeBatches(batches, merged)) {
      try {
        await sendOne(record);
      } catch (error) {
        if (!(error instanceof RecordTooLarge)) throw error;
        const held = batches.filter(({ offset }) => offset >= record.offset && offset < record.nextOffset);
        for (const part of mergeBatches(held, small)) await sendOne(part);
      }
    }
  }

  async function sendRecord(producer: Producer, at: ShipperState, record: LogBatch): Promise<void> {
    await send(producer, toMessage(record, at.partition, at.acknowledged));
    at.offset = record.nextOffset;
    at.acknowledged = record.firstSequence + BigInt(record.count) - 1n;
    onShipped(record.count);
  }

  async function linger(millis: number): Promise<void> {
    if (millis > 0) await delay(millis, undefined, { signal: stopping.signal }).catch(() => undefined);
  }

  async function run(): Promise<void> {
    let producer = await untilDone('connect', open);
    let lookedAt = performance.now();
    try {
      for (;;) {
        const at = state;
        if (!at) throw new Error('the shipper has no offset');
        if (performance.now() - lookedAt > LOOK_FOR_PARTITIONS_MS && !stopping.signal.aborted) {
          producer = await moveIfDue(producer, at).catch((error: unknown) => {
            log.debug({ err: error }, 'failed to look for new partitions; will retry');
            return producer;
          });
          lookedAt = performance.now();
        }
        if (!stopping.signal.aborted) {
          const to = { topic: kafka.topic, partition: at.partition };
          const sender = producer;
          await sendAgain(told.needs, to, async (batches) => {
            let offset = 0n;
            await inRecords(batches, async (record) => {
              offset = await send(sender, toMessage(record, at.partition));
            });
            return offset;
          });
        }
        const draining = stopping.signal.aborted;
        const began = performance.now();
        const read = await reader.read(streamName, at.offset, {
          maxBytes: READ_BYTES,
          waitMs: draining ? 0 : WAIT_MS,
          signal: stopping.signal,
        });
        const moved = read.nextOffset > at.offset;
        const isBehind = read.nextOffset - at.offset >= READ_BYTES;
        await ship(producer, at, read);
        at.offset = read.nextOffset;
        if (moved && (draining || performance.now() - savedAt > SAVE_STATE_MS)) save(at);
        if (draining && !moved) return;
        if (!isBehind) await linger(LINGER_MS - (performance.now() - began));
      }
    } finally {
      if (state) save(state);
      await producer.disconnect().catch(() => undefined);
      await reader.close();
    }
  }

  const running = run();
  const ended = running.then(
    () => null,
    (error: unknown) => (ending.signal.aborted ? null : (error as Error)),
  );
  return {
    ended,
    async truncate(needs, fill) {
      told = { needs: needs ?? told.needs, fill };
      const [first] = needs?.missing ?? [];
      const stored = needs && (first ? first.from - 1n : needs.stored);
      const at = state;
      if (!at) return;
      const settled = stored === null ? null : await offsetHolding(dataDir, streamName, stored);
      if (settled !== null) await reader.truncate(streamName, lesser(settled, at.offset));
      if (fill < PRESSURE || (settled !== null && settled >= at.offset)) return;
      if (at.acknowledged > at.truncatedAhead) at.truncatedAhead = at.acknowledged;
      const { offset } = at;
      writeShipperState(directory, at); // a failure truncates nothing: a restart would not count these clicks
      await reader.truncate(streamName, offset);
    },
    async stop(withinMs) {
      stopping.abort();
      const late = setTimeout(() => ending.abort(), withinMs);
      const error = await ended;
      clearTimeout(late);
      if (error) throw error;
    },
  };
}

/**
 * Thrown when the client does not know the partition. The thread restarts, and its new client queries the partitions.
 */
class UnknownPartition extends Error {
  constructor(partition: number | undefined) {
    super(`the client knows no partition ${partition} of the topic`);
  }
}

function pauseAfter(error: unknown): number {
  if (error instanceof ConfigError) return WRONG_SETTING_MS;
  return error instanceof RefusedByBrokers ? REFUSED_MS : RETRY_MS;
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
