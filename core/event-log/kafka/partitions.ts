import type { Admin } from 'kafkajs';

/** Interval at which writers and readers look for partitions that were added. Milliseconds. */
export const LOOK_FOR_PARTITIONS_MS = 10_000;

/**
 * Returns how many partitions of a topic can be used. All of them have a leader.
 *
 * @throws the client's error while no broker responds, or a partition has no leader yet
 */
export async function countPartitions(admin: Admin, topic: string): Promise<number> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const found = topics[0]?.partitions ?? [];
  const without = found.find(({ leader }) => leader < 0);
  if (without) throw new Error(`partition ${without.partitionId} of topic ${topic} has no leader`);
  return found.length;
}

/** Returns the partition of a stream. Streams have ordinals from 0 on, so they are spread evenly. */
export function partitionOf(ordinal: number, partitions: number): number {
  return ordinal % partitions;
}
