import type { Replica } from '../../clickhouse/replicas.ts';

/**
 * Runs work that finds by itself what is left to do in every replica of ClickHouse, at once. A replica that fails does
 * not hold the others; the next run finds what it still lacks.
 *
 * @returns the results, in order
 * @throws the error of the first replica that failed, when all have ended
 */
export async function forEachReplica<T>(
  replicas: readonly Replica[],
  work: (replica: Replica) => Promise<T>,
): Promise<T[]> {
  const ended = await Promise.allSettled(replicas.map(work));
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}
