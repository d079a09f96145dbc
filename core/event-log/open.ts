import { join } from 'node:path';
import type { Registry } from 'prom-client';
import type { AddressSealer } from '../events/address-seal.ts';
import type { Config } from '../settings/config.ts';
import { createLogger, type Logger } from '../tier/log.ts';
import { openJournal } from './journal/open-journal.ts';
import { JournalReader } from './journal/reader.ts';
import type { DeadTopic } from './kafka/dead-topic.ts';
import { shipToKafka } from './kafka/ship.ts';
import { readShipperState } from './kafka/shipper-state.ts';
import type { EventLogReader, EventLogWriter, NewStream, StreamNeeds, StreamRecord } from './port.ts';

export { ownBatches } from './journal/own-batches.ts';
export { readStreamIdentity } from './journal/stream-identity.ts';
export type { DeadTopic, PublishedLetter } from './kafka/dead-topic.ts';

/**
 * The one place that decides which event log a deployment has. Writers always write the journal. Without brokers,
 * readers read it; with Kafka, a shipper moves it to the topic and readers read that. Kafka's client is loaded on
 * demand: it takes memory.
 */

export type WriterConfig = Pick<
  Config,
  'dataDir' | 'journalSyncMs' | 'journalBudgetBytes' | 'kafkaBrokers' | 'kafka'
>;
export type ReaderConfig = Pick<Config, 'dataDir' | 'kafkaBrokers' | 'kafka'>;

export type WriterDependencies = {
  /** Directory name of the stream, such as `ingest-0`. */
  streamName: string;
  /**
   * Registers the stream in PostgreSQL and returns its identity. Called until a stream's first start has succeeded,
   * and with its former ordinal when PostgreSQL has lost the stream.
   */
  register: (streamId: string, former: number | null) => Promise<NewStream>;
  /** Returns what PostgreSQL knows of the stream, at each start. Left out: nothing. */
  recorded?: (streamId: string) => Promise<StreamRecord>;
  /** Returns what workers have stored of the stream, as PostgreSQL knows it. */
  needs: (streamId: string) => Promise<StreamNeeds>;
  /** Records that this process no longer has what the log has lost of the stream up to a sequence. */
  giveUp: (streamId: string, sequence: bigint) => Promise<void>;
  /** Returns whether an operator wants the time set back. Called while the stream's time is ahead. Left out: no. */
  isClockResetRequested?: (streamId: string) => Promise<boolean>;
  sealer: AddressSealer;
  log: Logger;
  registry: Registry;
};

/**
 * Opens this process's stream for writing. After the first start it needs nothing but the disk.
 *
 * @throws {StreamLockedError} when another process writes this stream
 * @throws {ConfigError} when a setting of Kafka is wrong; what only a broker can tell is logged later
 */
export async function openEventLogWriter(
  config: WriterConfig,
  dependencies: WriterDependencies,
): Promise<EventLogWriter> {
  const { dataDir, kafkaBrokers: brokers, kafka } = config;
  const { needs, giveUp, log, registry, streamName } = dependencies;
  if (brokers.length > 0) {
    const { clientConfig } = await import('./kafka/client.ts');
    clientConfig({ brokers, kafka }, streamName, log);
  }
  const journal = await openJournal({
    dataDir,
    syncMs: config.journalSyncMs,
    budgetBytes: config.journalBudgetBytes,
    ...dependencies,
  });
  if (brokers.length === 0) return journal;
  const shipping = shipToKafka({
    journal,
    needs: () => needs(journal.stream.streamId),
    giveUp: (sequence) => giveUp(journal.stream.streamId, sequence),
    brokers,
    kafka,
    dataDir,
    streamName,
    log,
    registry,
  });
  return {
    stream: journal.stream,
    append: (event, settled) => journal.append(event, settled),
    flush: () => journal.flush(),
    fill: () => journal.fill(),
    loss: () => journal.loss(),
    ready: () => shipping.hasStarted(),
    async close() {
      await journal.close();
      await shipping.end();
    },
  };
}

/**
 * Opens the event log for one consumer. Each consumer needs its own, since a reader of Kafka has a position. It
 * connects at the first call.
 *
 * @param onUnderReplicated called at intervals with the number of partitions of Kafka that lack a replica in sync
 * @throws {ConfigError} when a setting of Kafka is wrong
 */
export async function openEventLogReader(
  config: ReaderConfig,
  onUnderReplicated?: (partitions: number) => void,
): Promise<EventLogReader> {
  const { dataDir, kafkaBrokers: brokers, kafka } = config;
  if (brokers.length === 0) return new JournalReader(dataDir);
  const log = createLogger('kafka-reader');
  const [{ createKafka }, { KafkaReader }] = await Promise.all([
    import('./kafka/client.ts'),
    import('./kafka/reader.ts'),
  ]);
  return new KafkaReader(
    createKafka({ brokers, kafka }, 'hoplog-workers', log),
    kafka,
    log,
    onUnderReplicated,
  );
}

/** Opens the topic of dead letters; null where the journal is the event log. It connects at the first letter. */
export async function openDeadLetterTopic(config: ReaderConfig): Promise<DeadTopic | null> {
  const { kafkaBrokers: brokers, kafka } = config;
  if (brokers.length === 0) return null;
  const [{ createKafka }, { openDeadTopic }] = await Promise.all([
    import('./kafka/client.ts'),
    import('./kafka/dead-topic.ts'),
  ]);
  const log = createLogger('dead-letters');
  return openDeadTopic(createKafka({ brokers, kafka }, 'hoplog-dead-letters', log), kafka, log);
}

/** Changes the topic of the event log. */
export type TopicAdmin = {
  /**
   * Raises the number of partitions to a total.
   *
   * @returns how many there were
   * @throws {RangeError} when there are more
   */
  addPartitions(total: number): Promise<number>;
  close(): Promise<void>;
};

/** Opens the topic for changes; null where the journal is the event log. */
export async function openTopicAdmin(config: ReaderConfig): Promise<TopicAdmin | null> {
  const { kafkaBrokers: brokers, kafka } = config;
  if (brokers.length === 0) return null;
  const [{ createKafka }, { addPartitions }] = await Promise.all([
    import('./kafka/client.ts'),
    import('./kafka/topic.ts'),
  ]);
  const admin = createKafka({ brokers, kafka }, 'hoplog-cli', createLogger('kafka-admin')).admin();
  await admin.connect();
  return {
    addPartitions: (total) => addPartitions(admin, kafka.topic, total),
    close: () => admin.disconnect(),
  };
}

/**
 * Returns the newest sequence that a stream's journal truncated before workers had stored it; -1 when there is none.
 * Until workers have come that far, the journal does not show all that the stream used (`ownBatches`).
 */
export function truncatedAhead(dataDir: string, streamName: string): bigint {
  return readShipperState(join(dataDir, 'journal', streamName))?.truncatedAhead ?? -1n;
}
