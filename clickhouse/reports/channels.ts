import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ONE_MOMENT } from './cached-parts.ts';
import { byRevenueThenClicks, type FigureRow, type Figures, toFigures } from './figures.ts';
import { lifetimeValues } from './lifetime-values.ts';
import { type ReportWindow, report, type Sources } from './report.ts';
import { ALL_LINKS } from './request.ts';

export type ChannelFigures = Figures & { channel: string };

/**
 * Returns clicks, visitors, conversions and revenue of every channel with a click or an order in the window, by revenue, then
 * clicks, most first. An order counts where its own time is in the window, whenever its clicks were.
 */
export function channelsReport(client: ClickHouseClient, window: ReportWindow): Promise<ChannelFigures[]> {
  return report(client, window, ALL_LINKS, (sources) => figuresOf(client, sources));
}

/** Returns {@link channelsReport} with {@link lifetimeValues}. */
export async function channelsWithValues(
  client: ClickHouseClient,
  window: ReportWindow,
): Promise<{ channels: ChannelFigures[]; values: Map<string, bigint> }> {
  const [channels, values] = await report(client, window, ALL_LINKS, (sources) =>
    Promise.all([figuresOf(client, sources), lifetimeValues(client, window, !sources.isExact)]),
  );
  return { channels, values };
}

/** Reads clicks and shares by two queries at once: ClickHouse plans a query on one core. */
async function figuresOf(
  client: ClickHouseClient,
  { clicksBy, condition, channelShares }: Sources,
): Promise<ChannelFigures[]> {
  const clicks = clicksBy('channel', 'visitors');
  const common = { params: clicks.params, seconds: 60, settings: ONE_MOMENT };
  const [clicked, credited] = await Promise.all([
    runQuery<Pick<FigureRow, 'clicks' | 'visitors'> & { channel: string }>(client, {
      sql: `SELECT channel, clicks, visitors FROM ${clicks.sql}`,
      ...common,
    }),
    runQuery<Pick<FigureRow, 'leads' | 'conversions' | 'revenue'> & { channel: string }>(client, {
      sql: `SELECT channel, sum(lead) AS leads, sum(share) AS conversions, sum(amount_minor) AS revenue
            FROM ${channelShares()} WHERE channel != '' ${condition} GROUP BY channel`,
      ...common,
    }),
  ]);
  const rows = new Map<string, FigureRow>(
    clicked.map(({ channel, ...row }) => [channel, { ...NO_FIGURES, ...row }]),
  );
  for (const { channel, ...row } of credited) {
    rows.set(channel, { ...(rows.get(channel) ?? NO_FIGURES), ...row });
  }
  return [...rows].map(([channel, row]) => ({ channel, ...toFigures(row) })).sort(inOrder);
}

const NO_FIGURES: FigureRow = { clicks: '0', visitors: '0', leads: 0, conversions: 0, revenue: '0' };

const inOrder = (a: ChannelFigures, b: ChannelFigures): number =>
  byRevenueThenClicks(a, b) || Buffer.compare(Buffer.from(a.channel), Buffer.from(b.channel));
