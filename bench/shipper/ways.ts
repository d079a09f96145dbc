import { Producer } from '@platformatic/kafka';
import { CompressionTypes } from 'kafkajs';
import { Registry } from 'prom-client';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { mergeBatches, toMessage } from '../../core/event-log/kafka/record.ts';
import { openEventLogWriter, ownBatches } from '../../core/event-log/open.ts';
import type { LogBatch } from '../../core/event-log/port.ts';
import { storedUpTo } from '../../core/event-log/port.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { asBuffer } from '../../core/events/as-buffer.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';

/** Input and callbacks of a way to ship. */
export type Shipment = {
  dataDir: string;
  streamName: string;
  brokers: string;
  topic: string;
  /** Number of events to ship. */
  events: number;
  /** Must be called after each acknowledgement with the total of events shipped. */
  onShipped(events: number): void;
};

/** Bytes of one record of the product's shipper before compression. */
const RECORD_BYTES = 2 * 1024 * 1024;
const RECORDS_A_REQUEST = 1_000;
const LOOK_EVERY_MS = 20;

/** The product: opens the journal as an ingest process does, and its shipper thread empties it. */
export async function asHoplog(shipment: Shipment): Promise<void> {
  const { dataDir, streamName, brokers, topic, events, onShipped } = shipment;
  const registry = new Registry();
  const config = readConfig({
    DATA_DIR: dataDir,
    KAFKA_BROKERS: brokers,
    KAFKA_TOPIC: topic,
    KAFKA_PARTITIONS: '1',
    KAFKA_REPLICATION: '1',
    JOURNAL_BUDGET: '64GiB',
  });
  const writer = await openEventLogWriter(config, {
    streamName,
    register: () => Promise.reject(new Error('the journal already has a stream')),
    needs: async () => storedUpTo(-1n),
    giveUp: async () => {},
    sealer: createAddressSealer(Buffer.alloc(32, 7)),
    log: silentLogger(),
    registry,
  });
  for (let shipped = 0; shipped < events; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const metric = await registry.getSingleMetric('hoplog_shipper_events_total')?.get();
    const now = metric?.values[0]?.value ?? 0;
    if (now === shipped) continue;
    shipped = now;
    onShipped(Math.min(shipped, events));
  }
  await writer.close();
}

/** The product's records by `@platformatic/kafka`. */
export function asPlatformatic(compression: 'gzip' | 'zstd') {
  return async (shipment: Shipment): Promise<void> => {
    const { brokers, topic, onShipped } = shipment;
    const producer = new Producer({
      clientId: 'bench',
      bootstrapBrokers: brokers.split(','),
      autocreateTopics: false,
    });
    const record = Buffer.allocUnsafeSlow(RECORD_BYTES);
    let shipped = 0;
    for await (const group of stretches(shipment, RECORD_BYTES)) {
      for (const batch of mergeBatches(group, record)) {
        const { value, headers = {} } = toMessage(batch, 0);
        await producer.send({
          acks: -1,
          compression,
          messages: [
            {
              topic,
              partition: 0,
              key: Buffer.from(batch.streamId),
              value: value as Buffer,
              headers: new Map(
                Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(String(text))]),
              ),
            },
          ],
        });
        shipped += batch.count;
        onShipped(shipped);
      }
    }
    await producer.close();
  };
}

/** The simple way: kafkajs with one record per click. */
export async function asRecordPerClick(shipment: Shipment): Promise<void> {
  const { brokers, topic, onShipped } = shipment;
  const { kafka } = readConfig({});
  const client = createKafka({ brokers: brokers.split(','), kafka }, 'bench', silentLogger());
  const producer = client.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  let shipped = 0;
  let messages: { value: Buffer; partition: number }[] = [];
  const send = async () => {
    await producer.send({ topic, acks: -1, compression: CompressionTypes.GZIP, messages });
    shipped += messages.length;
    onShipped(shipped);
    messages = [];
  };
  for await (const group of stretches(shipment, RECORD_BYTES)) {
    for (const event of group.flatMap(eventsOf)) {
      messages.push({ value: event, partition: 0 });
      if (messages.length === RECORDS_A_REQUEST) await send();
    }
  }
  if (messages.length > 0) await send();
  await producer.disconnect();
}

/** Yields the encoded events of a batch, each with a length prefix. */
function eventsOf({ payload, count }: LogBatch): Buffer[] {
  const bytes = asBuffer(payload);
  let at = 0;
  return Array.from({ length: count }, () => {
    const end = at + 4 + bytes.readUInt32LE(at);
    const event = bytes.subarray(at + 4, end);
    at = end;
    return event;
  });
}

/** Yields the journal's batches in groups of about the given bytes, up to the number of events. */
async function* stretches(
  { dataDir, streamName, events }: Shipment,
  bytes: number,
): AsyncGenerator<LogBatch[]> {
  let group: LogBatch[] = [];
  let size = 0;
  let read = 0;
  for await (const batch of ownBatches(dataDir, streamName, -1n)) {
    if (read >= events) break;
    if (size + batch.payload.length > bytes && group.length > 0) {
      yield group;
      [group, size] = [[], 0];
    }
    group.push(batch);
    size += batch.payload.length;
    read += batch.count;
  }
  if (group.length > 0) yield group;
}
