import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Message, Producer } from 'kafkajs';
import { ConfigError, type KafkaSettings } from '../../settings/config.ts';
import type { Logger } from '../../tier/log.ts';
import { MAX_PAYLOAD_BYTES } from '../journal/frame.ts';
import { offsetHolding } from '../journal/own-batches.ts';
import { JournalReader } from '../journal/reader.ts';
import { streamDirectory } from '../journal/segments.ts';
import type { LogBatch, LogDamage, StreamIdentity } from '../port.ts';
import { COMPRESSION, RecordTooLarge } from './compression.ts';
import { mergeBatches, toDamageMessage, toMessage } from './record.ts';
// Before the first record. Here, because nobody but a shipper needs the native module behind it.
import './record-batch.ts';
import { explained, RefusedByBrokers } from './refusals.ts';
import { readPlace, type ShippingPlace, writePlace } from './shipping-place.ts';
import { ensureTopic } from './topic.ts';

const READ_BYTES = 2 * 1024 * 1024;
/**
 * Before compression: what one read gives, which goes over its limit by one batch. Clicks shrink to a fourth, and what each record
 * costs both sides is a fifth of the CPU time of catching up when it is a third as large.
 */
const MERGED_BYTES = READ_BYTES + MAX_PAYLOAD_BYTES;
/** Of what did not shrink enough: such a record fits into the topic's limit even if it does not shrink at all. */
const SMALL_BYTES = MAX_PAYLOAD_BYTES;
/** Such a read begins with small chunks, and goes over by a large one. */
const ARENA_BYTES = 2 * READ_BYTES;
const WAIT_MS = 500;
/**
 * While clicks keep coming, what comes within this time travels together: a record costs both sides about a millisecond of CPU, however
 * little is in it. The first click after a silence goes at once.
 */
const LINGER_MS = 40;
const RETRY_MS = 250;
/** A wrong setting is looked at again so often: somebody may put the topic right. */
const WRONG_SETTING_MS = 30_000;
/** Brokers that refuse this process are asked again so often: they may have been told about it by then. */
const REFUSED_MS = 3_000;
const KEEP_PLACE_MS = 500;
/** Share of the journal's budget from which on what Kafka has is given back before workers have stored it. */
const PRESSURE = 0.5;

export type ShipperOptions = {
  client: Kafka;
  kafka: KafkaSettings;
  dataDir: string;
  streamName: string;
  stream: StreamIdentity;
  log: Logger;
  /** Told after every acknowledgement. */
  onShipped: (events: number) => void;
  /** Told when sending fails (`true`) and when it goes on (`false`). */
  onOutage: (out: boolean) => void;
};

export type Shipper = {
  /** Resolves when it has ended, with the error that ended it before it was told to, if any. */
  ended: Promise<Error | null>;
  /**
   * Gives back what Kafka has acknowledged. Normally only what workers have stored too: a restart of the stream
   * counts what they have not (max_clicks). Under pressure everything acknowledged, and then it is noted how far.
   *
   * @param stored the stream's high-water mark; null: not known
   * @param fill share of the journal's budget in use
   * @throws what the disk says, when it can't be noted: then only what workers have stored is given back
   */
  free(stored: bigint | null, fill: number): Promise<void>;
  /** Ships what the journal holds now, at most for `withinMs`, and ends. */
  stop(withinMs: number): Promise<void>;
};

/**
 * Takes a stream's journal to its partition, in order, each record acknowledged by all in-sync replicas before the
 * next ones are sent. A send whose outcome is unknown is repeated until it is acknowledged: consumers drop what they
 * have by its sequence, so a producer's idempotence, which ends with its session anyway, is not asked for.
 */
export function startShipper(options: ShipperOptions): Shipper {
  const { client, kafka, dataDir, streamName, log, onShipped, onOutage } = options;
  const directory = streamDirectory(dataDir, streamName);
  const reader = new JournalReader(dataDir, ARENA_BYTES);
  const merged = Buffer.allocUnsafeSlow(MERGED_BYTES);
  const small = merged.subarray(0, SMALL_BYTES);
  const stopping = new AbortController();
  const ending = new AbortController();
  let place: ShippingPlace | null = readPlace(directory);
  let kept = 0;
  let isRefused = false;

  /**
   * Keeps the place, or goes on without: a disk that is full has no block for it, and only what is shipped can be freed. Said
   * once, not at every attempt.
   */
  function keep(at: ShippingPlace): void {
    kept = performance.now();
    try {
      writePlace(directory, at);
      isRefused = false;
    } catch (error) {
      if (!isRefused)
        log.warn({ err: error, directory }, 'the place of the shipper could not be kept: it goes on');
      isRefused = true;
    }
  }

  async function open(): Promise<Producer> {
    const admin = client.admin();
    try {
      await admin.connect();
      const partitions = await ensureTopic(admin, kafka);
      const logName = `${(await admin.describeCluster()).clusterId}/${kafka.topic}`;
      if (place?.log !== logName) {
        const { freedAhead = -1n } = place ?? {};
        const partition = options.stream.ordinal % partitions;
        place = { log: logName, partition, offset: 0n, acknowledged: -1n, freedAhead };
      }
      keep(place);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    const producer = client.producer({
      allowAutoTopicCreation: false,
      idempotent: false,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    onOutage(false);
    return producer;
  }

  /** Tries a step until it is done. A cause is said once, not at every attempt. */
  async function untilDone<T>(what: string, step: () => Promise<T>): Promise<T> {
    let said = '';
    for (let failures = 0; ; failures++) {
      try {
        const result = await step();
        if (failures > 0) {
          onOutage(false);
          log.info({ what, failures }, 'Kafka answers again');
        }
        return result;
      } catch (thrown) {
        ending.signal.throwIfAborted();
        if (thrown instanceof RecordTooLarge) throw thrown;
        const error = explained(thrown, kafka);
        const wrongSetting = error instanceof ConfigError || error instanceof RefusedByBrokers;
        const cause = wrongSetting ? error.message : 'unreachable';
        if (failures === 0) onOutage(true);
        if (cause !== said) {
          if (wrongSetting) log.error(`${error.message}: events wait in the journal until this is put right`);
          else log.warn({ what, err: error }, 'Kafka does not take events: they wait in the journal');
          said = cause;
        }
        await delay(pauseAfter(error), undefined, { signal: ending.signal });
      }
    }
  }

  async function send(producer: Producer, message: Message): Promise<void> {
    await untilDone('send', () =>
      producer.send({
        topic: kafka.topic,
        acks: -1,
        timeout: 5_000,
        compression: COMPRESSION,
        messages: [message],
      }),
    );
  }

  async function ship(
    producer: Producer,
    at: ShippingPlace,
    read: { batches: LogBatch[]; damage: LogDamage[] },
  ): Promise<void> {
    for (const piece of read.damage) {
      log.error({ offset: String(piece.offset), reason: piece.reason }, 'damage in the journal');
      await send(producer, toDamageMessage(piece, options.stream.streamId, at.partition));
    }
    for (const record of mergeBatches(read.batches, merged)) {
      try {
        await sendRecord(producer, at, record);
      } catch (error) {
        if (!(error instanceof RecordTooLarge)) throw error;
        const held = read.batches.filter(
          ({ offset }) => offset >= record.offset && offset < record.nextOffset,
        );
        for (const part of mergeBatches(held, small)) await sendRecord(producer, at, part);
      }
    }
  }

  async function sendRecord(producer: Producer, at: ShippingPlace, record: LogBatch): Promise<void> {
    await send(producer, toMessage(record, at.partition));
    at.offset = record.nextOffset;
    at.acknowledged = record.firstSequence + BigInt(record.count) - 1n;
    onShipped(record.count);
  }

  /** Waits, but not for a shipper that is to end. */
  async function linger(millis: number): Promise<void> {
    if (millis > 0) await delay(millis, undefined, { signal: stopping.signal }).catch(() => undefined);
  }

  async function run(): Promise<void> {
    const producer = await untilDone('connect', open);
    try {
      for (;;) {
        const at = place;
        if (!at) throw new Error('the shipper has no place');
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
        if (moved && (draining || performance.now() - kept > KEEP_PLACE_MS)) keep(at);
        if (draining && !moved) return;
        if (!isBehind) await linger(LINGER_MS - (performance.now() - began));
      }
    } finally {
      if (place) keep(place);
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
    async free(stored, fill) {
      const at = place;
      if (!at) return;
      const settled = stored === null ? null : await offsetHolding(dataDir, streamName, stored);
      if (settled !== null) await reader.free(streamName, lesser(settled, at.offset));
      if (fill < PRESSURE || (settled !== null && settled >= at.offset)) return;
      if (at.acknowledged > at.freedAhead) at.freedAhead = at.acknowledged;
      const { offset } = at;
      writePlace(directory, at); // or nothing is given back: a restart would take these clicks for never made
      await reader.free(streamName, offset);
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

function pauseAfter(error: unknown): number {
  if (error instanceof ConfigError) return WRONG_SETTING_MS;
  return error instanceof RefusedByBrokers ? REFUSED_MS : RETRY_MS;
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
