import { readFileSync } from 'node:fs';
import { Admin } from '@platformatic/kafka';
import { NO_KAFKA, startKafka } from '../../test/support/kafka.ts';
import type { Bench } from '../harness/bench.ts';
import { cpuSeconds, family, pin } from '../harness/processes.ts';

/** Name in results; `test/kafka/pom.xml` installs it. */
export const BROKER_VERSION = 'Kafka 4.3.1';

/** A Kafka broker on this machine. */
export type Broker = {
  brokers: string;
  makeTopic(topic: string): Promise<void>;
  /** Returns the bytes of the topic on disk. */
  bytesOf(topic: string, partitions: number): Promise<number>;
  /** Returns the CPU seconds. */
  cpu(): number;
};

/**
 * Starts a broker pinned to cores.
 *
 * @throws Error when no broker is installed
 */
export async function startBroker(bench: Bench, cores?: string): Promise<Broker> {
  if (NO_KAFKA !== false) throw new Error(NO_KAFKA);
  const { brokers, close } = await startKafka(1);
  bench.defer(close);
  const pid = family(process.pid).find((one) => commandLine(one).includes('kafka.Kafka'));
  if (pid === undefined) throw new Error("the broker's process was not found");
  if (cores !== undefined) pin(pid, cores);
  const admin = new Admin({ clientId: 'bench', bootstrapBrokers: brokers.split(',') });
  bench.defer(() => admin.close());
  return {
    brokers,
    async makeTopic(topic) {
      await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
    },
    async bytesOf(topic, partitions) {
      const found = await admin.describeLogDirs({
        topics: [{ name: topic, partitions: Array.from({ length: partitions }, (_, n) => n) }],
      });
      return found
        .flatMap(({ results }) => results.flatMap(({ topics }) => topics.flatMap((one) => one.partitions)))
        .reduce((sum, { partitionSize }) => sum + Number(partitionSize), 0);
    },
    cpu: () => cpuSeconds(pid),
  };
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
