import type { ClickHouseClient } from '../client.ts';
import { ONE_MOMENT } from '../rollups/merged-credits.ts';
import { EXACT_CLICKS, type Reported, report } from './clicks-by.ts';
import { lifetimeValues } from './lifetime-values.ts';
import { byRevenueThenClicks, type FigureRow, type Figures, toFigures } from './report-figures.ts';
import { runQuery } from './run-query.ts';
import { ofLink, type Span } from './visible-clicks.ts';

export type ChannelFigures = Figures & { channel: string };

/**
 * Clicks, visitors, conversions and revenue of every channel with a click or an order in the window, by revenue,
 * then clicks, most first, of all links or of one. An order counts where its own time is in the window, whenever its clicks were.
 *
 * @param more.linkId the one link; left out or null: all
 * @param more.hasDeleted whether the workspace has deleted links; the store is asked unless it is given
 */
export function channelsReport(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  exactUpTo = EXACT_CLICKS,
  { linkId = null, hasDeleted }: { linkId?: string | null; hasDeleted?: boolean | undefined } = {},
): Promise<ChannelFigures[]> {
  const condition = ofLink(linkId);
  const asked = { workspaceId, span, condition, params: { link: linkId }, exactUpTo, hasDeleted };
  return report(client, asked, (reported) => figuresOf(client, reported));
}

/** As {@link channelsReport} of all links, with {@link lifetimeValues}. */
export async function channelsWithValues(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  hasDeleted?: boolean,
): Promise<{ channels: ChannelFigures[]; values: Map<string, bigint> }> {
  const asked = { workspaceId, span, condition: '', params: {}, exactUpTo: EXACT_CLICKS, hasDeleted };
  const [channels, values] = await report(client, asked, (reported) =>
    Promise.all([
      figuresOf(client, reported),
      lifetimeValues(client, workspaceId, reported.hasDeleted, !reported.exact),
    ]),
  );
  return { channels, values };
}

/** Asks for clicks and for orders at once: the store plans a question on one core, and these have several parts each. */
async function figuresOf(
  client: ClickHouseClient,
  { by, condition, channelCredits }: Reported,
): Promise<ChannelFigures[]> {
  const clicks = by('channel', 'visitors');
  const of = { params: clicks.params, seconds: 60, settings: ONE_MOMENT };
  const [clicked, credited] = await Promise.all([
    runQuery<Pick<FigureRow, 'clicks' | 'visitors'> & { channel: string }>(client, {
      sql: `SELECT channel, clicks, visitors FROM ${clicks.sql}`,
      ...of,
    }),
    runQuery<Pick<FigureRow, 'conversions' | 'revenue'> & { channel: string }>(client, {
      sql: `SELECT channel, sum(share) AS conversions, sum(amount_minor) AS revenue FROM ${channelCredits}
            WHERE channel != '' ${condition} GROUP BY channel`,
      ...of,
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

const NO_FIGURES: FigureRow = { clicks: '0', visitors: '0', conversions: 0, revenue: '0' };

const inOrder = (a: ChannelFigures, b: ChannelFigures): number =>
  byRevenueThenClicks(a, b) || Buffer.compare(Buffer.from(a.channel), Buffer.from(b.channel));
