import { readFileSync } from 'node:fs';
import { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import { ConfigError, type KafkaSettings } from '../../settings/config.ts';
import type { Logger } from '../../tier/log.ts';
// For whoever reads: the client has to know how records are compressed.
import './compression.ts';
// Before the first connection.
import './idle-queue.ts';

export type KafkaAddress = { brokers: string[]; kafka: KafkaSettings };

/**
 * The client of a cluster. A request waits at most 10 s for its answer and is tried for some seconds: whoever sends
 * goes on trying by itself for as long as it takes.
 *
 * @param clientId names this process in the brokers' logs
 * @throws {ConfigError} when the file of `KAFKA_TLS_CA` can't be read
 */
export function createKafka(address: KafkaAddress, clientId: string, log: Logger): Kafka {
  return new Kafka(clientConfig(address, clientId, log));
}

/** What the client is told. @throws {ConfigError} as {@link createKafka} does */
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
        // Unreachable brokers are the business of whoever waits for them, and said there once.
        if (level === logLevel.ERROR) log.debug(fields, message);
      },
  };
  if (kafka.tls) config.ssl = kafka.tlsCa ? { ca: [authority(kafka.tlsCa)] } : true;
  if (kafka.sasl) config.sasl = kafka.sasl as SASLOptions;
  return config;
}

function authority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError('KAFKA_TLS_CA', path, `can not be read: ${(error as Error).message}`);
  }
}
