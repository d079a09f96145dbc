import type { Address } from '../core/settings/credentials.ts';
import { type ClickHouseClient, createClickHouse } from './client.ts';

/** A whole copy of the analytical data, which the event log feeds. */
export type Replica = { name: string; clickhouse: ClickHouseClient };

/** Opens a client for each replica, in the same order. @param timeoutMs longest silence of a server */
export function openReplicas(
  replicas: readonly { name: string; url: Address }[],
  database: string,
  timeoutMs?: number,
): [Replica, ...Replica[]] {
  const [first, ...others] = replicas.map(({ name, url }) => ({
    name,
    clickhouse: createClickHouse({ url, database, ...(timeoutMs !== undefined && { timeoutMs }) }),
  }));
  if (!first) throw new RangeError('there must be a replica of ClickHouse');
  return [first, ...others];
}
