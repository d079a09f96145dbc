import { readFileSync } from 'node:fs';
import kafkajs, { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import recordBatch from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { ConfigError, type KafkaSettings } from '../../settings/config.ts';
import { openSaslLogin } from '../../settings/credentials.ts';
import type { Logger } from '../../tier/log.ts';
import { COMPRESSION, zstandard } from './compression.ts';
import { checkWhilePending } from './idle-queue.ts';
import { type Crc32c, encodeRecordBatch } from './record-batch.ts';
import { ensureAvailable } from './request-memory.ts';

/**
 * The release of kafkajs that {@link adaptKafkajs} was written for. A test fails when `package.json` installs another:
 * read the diff of the four modules below, run `bench/shipper.ts`, then change this.
 */
export const KAFKAJS_VERSION = '2.2.4';

export type KafkaAddress = { brokers: string[]; kafka: KafkaSettings };

export type KafkaOptions = {
  /**
   * Native CRC-32C, for the client that ships the journal, whose record batches {@link encodeRecordBatch} then writes.
   * The caller loads the native module, so that a tier starts where the module is missing.
   */
  crc32c?: Crc32c;
  /** Settings of the client that differ from {@link clientConfig}. */
  config?: Partial<KafkaConfig>;
};

/**
 * Creates the client of a cluster. A request waits at most 10 s for its response and is retried for some seconds;
 * callers retry for as long as they need.
 *
 * @param clientId names this process in the brokers' logs
 * @throws {ConfigError} when a file of `KAFKA_TLS_CA`, `KAFKA_TLS_CERT`, or `KAFKA_TLS_KEY` can't be read
 */
export function createKafka(
  address: KafkaAddress,
  clientId: string,
  log: Logger,
  { crc32c, config }: KafkaOptions = {},
): Kafka {
  adaptKafkajs(crc32c);
  return new Kafka({ ...clientConfig(address, clientId, log), ...config });
}

let adapted = false;
let hasFastBatches = false;

/**
 * Adapts kafkajs, once a process and before its first client. This is all that Hoplog changes in it:
 *
 * | What                          | Drop it when                                                                     |
 * | ----------------------------- | -------------------------------------------------------------------------------- |
 * | Zstandard                     | kafkajs brings a codec, or gzip's CPU time and size are acceptable               |
 * | checks of an idle connection  | tulios/kafkajs#1704 is released: the timer stops when no request waits           |
 * | memory of requests            | `Encoder` allocates without filling, and reuses its largest buffer               |
 * | record batches                | `RecordBatch` copies a compressed batch once and computes CRC-32C natively       |
 *
 * Another client, such as `@platformatic/kafka` (see `bench/shipper.ts`), would need none of them.
 */
export function adaptKafkajs(crc32c?: Crc32c): void {
  if (!adapted) {
    adapted = true;
    kafkajs.CompressionCodecs[COMPRESSION] = () => zstandard;
    Encoder.prototype.ensureAvailable = ensureAvailable;
    RequestQueue.prototype.scheduleCheckPendingRequests = checkWhilePending(
      RequestQueue.prototype.scheduleCheckPendingRequests,
    );
  }
  if (crc32c && !hasFastBatches) {
    hasFastBatches = true;
    recordBatch.RecordBatch = encodeRecordBatch(recordBatch.RecordBatch, crc32c);
  }
}

/** Returns the client's own settings. @throws {ConfigError} as {@link createKafka} does */
export function clientConfig({ brokers, kafka }: KafkaAddress, clientId: string, log: Logger): KafkaConfig {
  const config: KafkaConfig = {
    clientId,
    brokers,
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
    logLevel: logLevel.WARN,
    logCreator:
      () =>
      ({ level, log: { message, ...rest } }) => {
        const fields = { broker: rest.broker, error: rest.error };
        // The caller reports unreachable brokers, once.
        if (level === logLevel.ERROR) log.debug(fields, message);
      },
  };
  if (kafka.tls) config.ssl = tlsOptions(kafka);
  if (kafka.sasl) config.sasl = openSaslLogin(kafka.sasl, { log }) as SASLOptions;
  return config;
}

function tlsOptions({ tlsCa, tlsClient }: KafkaSettings): NonNullable<KafkaConfig['ssl']> {
  if (tlsCa === '' && tlsClient === null) return true;
  return {
    ...(tlsCa !== '' && { ca: [readTlsFile('KAFKA_TLS_CA', tlsCa)] }),
    ...(tlsClient && {
      cert: readTlsFile('KAFKA_TLS_CERT', tlsClient.cert),
      key: readTlsFile('KAFKA_TLS_KEY', tlsClient.key),
    }),
  };
}

function readTlsFile(name: 'KAFKA_TLS_CA' | 'KAFKA_TLS_CERT' | 'KAFKA_TLS_KEY', path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(name, path, `cannot be read: ${(error as Error).message}`);
  }
}
