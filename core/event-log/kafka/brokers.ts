import { createLogger } from '../../tier/log.ts';
import { createKafka, type KafkaAddress } from './client.ts';

/**
 * Returns the number of brokers in the cluster. Tries each of the given brokers at most once.
 *
 * @param patienceMs limit for all connection attempts together, and again for the response
 * @throws Error when no broker responds, {@link ConfigError} when the file of `KAFKA_TLS_CA` can't be read
 */
export async function countBrokers(address: KafkaAddress, patienceMs: number): Promise<number> {
  // Silent: the caller reports the failure.
  const kafka = createKafka(address, 'hoplog-status', createLogger('kafka', 'silent'), {
    config: {
      connectionTimeout: Math.ceil(patienceMs / address.brokers.length),
      requestTimeout: patienceMs,
      retry: { initialRetryTime: 10, maxRetryTime: 50, retries: address.brokers.length - 1 },
    },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length;
  } finally {
    await admin.disconnect();
  }
}
