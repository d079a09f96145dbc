import { Kafka } from 'kafkajs';
import { createLogger } from '../../tier/log.ts';
import { clientConfig, type KafkaAddress } from './client.ts';

/**
 * Asks the cluster who belongs to it, each of the brokers at most once.
 *
 * @param patienceMs for all of them together, and then for the answer
 * @returns how many brokers the cluster has
 * @throws Error when none of them answers, {@link ConfigError} when the file of `KAFKA_TLS_CA` can't be read
 */
export async function countBrokers(address: KafkaAddress, patienceMs: number): Promise<number> {
  const kafka = new Kafka({
    ...clientConfig(address, 'hoplog-status', createLogger('kafka', 'silent')), // whoever asks says what failed
    connectionTimeout: Math.ceil(patienceMs / address.brokers.length),
    requestTimeout: patienceMs,
    retry: { initialRetryTime: 10, maxRetryTime: 50, retries: address.brokers.length - 1 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length;
  } finally {
    await admin.disconnect();
  }
}
