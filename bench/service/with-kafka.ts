import { join } from 'node:path';
import type { Bench } from '../harness/bench.ts';
import type { Broker } from '../servers/broker.ts';
import { type BenchService, startBenchService } from './start.ts';

const PARTITIONS = 4;
const TOPIC = 'hoplog.events.v1';

/** A service with a broker between journal and workers. */
export type KafkaService = BenchService & {
  /** Returns the bytes of the topic on disk. */
  topicBytes(): Promise<number>;
};

/** Starts the service as `startBenchService` does, in the directory `kafka`. */
export async function startWithKafka(bench: Bench, broker: Broker, links: number): Promise<KafkaService> {
  const service = await startBenchService(bench, {
    dataDir: join(bench.directory, 'kafka'),
    links,
    env: {
      KAFKA_BROKERS: broker.brokers,
      KAFKA_TOPIC: TOPIC,
      KAFKA_REPLICATION: '1',
      KAFKA_PARTITIONS: String(PARTITIONS),
    },
  });
  return { ...service, topicBytes: () => broker.bytesOf(TOPIC, PARTITIONS) };
}
