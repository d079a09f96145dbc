import type { Admin, PartitionMetadata } from 'kafkajs';
import type { StreamIdentity } from '../port.ts';

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

/** Returns the offset behind the last record of a partition. @throws the client's error while no broker responds */
export async function endOf(admin: Admin, topic: string, partition: number): Promise<bigint> {
  const offsets = await admin.fetchTopicOffsets(topic);
  const found = offsets.find((one) => one.partition === partition);
  if (!found) throw new Error(`no broker returned the end of partition ${partition} of topic ${topic}`);
  return BigInt(found.high);
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

/**
 * Returns the partition of a stream. Busy streams fill the partitions from the first one on and idle ones from the last
 * one on. So each load is spread evenly, and idle streams share partitions with busy ones last.
 */
export function partitionOf({ ordinal, place = ordinal }: StreamIdentity, partitions: number): number {
  return ((place % partitions) + partitions) % partitions;
}
