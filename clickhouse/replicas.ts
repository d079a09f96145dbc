import type { ClickHouseClient } from './client.ts';

/** A whole copy of the analytical data, which the event log feeds. */
export type Replica = { name: string; clickhouse: ClickHouseClient };

/** The replica at `CLICKHOUSE_URL`. */
export const MAIN_REPLICA = 'main';
