import type { Admin, PartitionMetadata } from 'kafkajs';

/** Interval at which writers and readers look for partitions that were added. Milliseconds. */
export const LOOK_FOR_PARTITIONS_MS = 10_000;

/** Returns what the brokers say of each partition of a topic. @throws the client's error while no broker responds */
export async function readPartitions(admin: Admin, topic: string): Promise<PartitionMetadata[]> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  return topics[0]?.partitions ?? [];
}

/**
 * Returns how many partitions of a topic can be used. All of them have a leader.
 *
 * @throws the client's error while no broker responds, or a partition has no leader yet
 */
export async function countPartitions(admin: Admin, topic: string): Promise<number> {
  return countLed(await readPartitions(admin, topic), topic);
}

/** Returns the number of partitions. @throws {Error} when one of them has no leader */
export function countLed(partitions: readonly PartitionMetadata[], topic: string): number {
  const without = partitions.find(({ leader }) => leader < 0);
  if (without) throw new Error(`partition ${without.partitionId} of topic ${topic} has no leader`);
  return partitions.length;
}

/** Returns how many partitions lack a replica that is in sync. */
export function countUnderReplicated(partitions: readonly PartitionMetadata[]): number {
  return partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length;
}

/** Returns the partition of a stream. Streams have ordinals from 0 on, so they are spread evenly. */
export function partitionOf(ordinal: number, partitions: number): number {
  return ordinal % partitions;
}
