import type { ClickHouseClient } from '../client.ts';
import { type AnalyticsRow, allRows, countedIn, planned } from './analytics/query.ts';
import type { Figures } from './figures.ts';
import { lifetimeValues } from './lifetime-values.ts';
import type { ReportWindow } from './request.ts';

export type ChannelFigures = Figures & { channel: string };

const byChannel = (window: ReportWindow) => countedIn(window, [{ kind: 'text', dimension: 'channel' }]);
const ofChannel = ({ keys: [channel = ''], figures }: AnalyticsRow): ChannelFigures => {
  const { conversionRate: _, revenuePerClick: __, ...own } = figures;
  return { channel, ...own };
};

/**
 * Returns clicks, visitors, conversions and revenue of every channel with a click or an order in the window, by
 * revenue, then clicks, most first. An order counts where its own time is in the window, whenever its clicks were.
 */
export async function channelsReport(
  client: ClickHouseClient,
  window: ReportWindow,
): Promise<ChannelFigures[]> {
  return (await allRows(client, byChannel(window))).map(ofChannel);
}

/** Returns {@link channelsReport} with {@link lifetimeValues}. */
export function channelsWithValues(
  client: ClickHouseClient,
  window: ReportWindow,
): Promise<{ channels: ChannelFigures[]; values: Map<string, bigint> }> {
  return planned(client, byChannel(window), async (queries) => {
    const [rows, values] = await Promise.all([
      queries.all(),
      lifetimeValues(client, window, queries.isLarge),
    ]);
    return { channels: rows.map(ofChannel), values };
  });
}
