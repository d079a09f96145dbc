import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { analyticsRows, countedIn, type Figures, type ReportWindow } from '../../clickhouse/reports/index.ts';

/** Returns the total figures of a window. */
export async function windowTotals(client: ClickHouseClient, window: ReportWindow): Promise<Figures> {
  const { totals } = await analyticsRows(client, countedIn(window, []), { order: [], limit: 1, offset: 0 });
  return totals;
}
