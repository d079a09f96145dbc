import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { analyticsRows, type Figures, type ReportWindow } from '../../clickhouse/reports/index.ts';

/** Returns the figures of a window in all. */
export async function windowTotals(client: ClickHouseClient, window: ReportWindow): Promise<Figures> {
  const counted = {
    window,
    metrics: ['clicks', 'visitors', 'leads', 'conversions', 'revenue'] as const,
    keys: [],
    starts: [],
    timeZone: 'UTC',
    conditions: [],
    bots: 'exclude',
    orphans: 'exclude',
  } as const;
  return (await analyticsRows(client, counted, { order: [], limit: 1, offset: 0 })).totals;
}
