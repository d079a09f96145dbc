import type { Kafka, Producer } from 'kafkajs';
import type { KafkaSettings } from '../../settings/config.ts';
import type { Logger } from '../../tier/log.ts';
import { COMPRESSION } from './compression.ts';
import { explainError } from './refusals.ts';
import { ensureTopic } from './topic.ts';

/** Limit of the published bytes, so that every record fits. The table has all of them. */
const PAYLOAD_BYTES = 768 * 1024;

/** A dead letter as a record: the bytes are its value, the rest its headers. */
export type PublishedLetter = {
  id: number;
  partition: string;
  logOffset: bigint;
  streamId: string | null;
  sequence: bigint | null;
  reason: string;
  payload: Uint8Array;
};

export type DeadTopic = {
  /** Creates the topic and connects, unless that is done. @throws the client's error while no broker responds */
  open(): Promise<void>;
  /**
   * Resolves when the brokers have acknowledged the letter.
   *
   * @throws the client's error while none responds; the letter may be in the topic nevertheless
   */
  publish(letter: PublishedLetter): Promise<void>;
  close(): Promise<void>;
};

/** Opens the topic of dead letters, created with the first of them. A letter may be in it twice, with the same id. */
export function openDeadTopic(client: Kafka, kafka: KafkaSettings, log: Logger): DeadTopic {
  let opening: Promise<Producer> | null = null;

  async function connect(): Promise<Producer> {
    const admin = client.admin();
    try {
      await admin.connect();
      await ensureTopic(admin, { ...kafka, topic: kafka.deadTopic, partitions: 1 }, log);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    const producer = client.producer({ allowAutoTopicCreation: false });
    await producer.connect();
    return producer;
  }

  function opened(): Promise<Producer> {
    opening ??= connect().catch((error: unknown) => {
      opening = null;
      throw explainError(error, kafka);
    });
    return opening;
  }

  return {
    async open() {
      await opened();
    },
    async publish(letter) {
      const producer = await opened();
      await producer.send({
        topic: kafka.deadTopic,
        acks: -1,
        compression: COMPRESSION,
        messages: [toRecord(letter)],
      });
    },
    async close() {
      const producer = await opening?.catch(() => null);
      await producer?.disconnect();
    },
  };
}

function toRecord({ id, partition, logOffset, streamId, sequence, reason, payload }: PublishedLetter) {
  return {
    key: String(id),
    value: Buffer.from(payload.subarray(0, PAYLOAD_BYTES)),
    headers: {
      id: String(id),
      partition,
      offset: String(logOffset),
      reason,
      ...(streamId === null ? {} : { stream: streamId }),
      ...(sequence === null ? {} : { sequence: String(sequence) }),
    },
  };
}
