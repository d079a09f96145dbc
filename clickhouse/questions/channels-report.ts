import type { ClickHouseClient } from '../client.ts';
import { ask } from './ask.ts';
import { EXACT_CLICKS, type Reported, report } from './clicks-by.ts';
import { lifetimeValues } from './lifetime-values.ts';
import { type FigureRow, type Figures, SUMMED_FIGURES, toFigures } from './report-figures.ts';
import { ofLink, type Span } from './visible-clicks.ts';

export type ChannelFigures = Figures & { channel: string };

/**
 * Clicks, visitors, conversions and revenue of every channel with a click or an order in the window, by revenue,
 * then clicks, most first, of all links or of one. An order counts where its own time is in the window, whenever its clicks were.
 *
 * @param hasDeleted whether the workspace has deleted links; the store is asked unless it is given
 */
export function channelsReport(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  exactUpTo = EXACT_CLICKS,
  linkId: string | null = null,
  hasDeleted?: boolean,
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
    Promise.all([figuresOf(client, reported), lifetimeValues(client, workspaceId, reported.hasDeleted)]),
  );
  return { channels, values };
}

async function figuresOf(
  client: ClickHouseClient,
  { by, condition, credits }: Reported,
): Promise<ChannelFigures[]> {
  const clicks = by('channel', 'visitors');
  const rows = await ask<FigureRow & { channel: string }>(client, {
    sql: `
      SELECT channel, ${SUMMED_FIGURES} FROM (
        SELECT channel, clicks, visitors, 0. AS conversions, 0 AS revenue FROM ${clicks.sql}
        UNION ALL
        SELECT channel, 0, 0, sum(share), sum(amount_minor) FROM ${credits}
        WHERE channel != '' ${condition} GROUP BY channel)
      GROUP BY channel ORDER BY revenue DESC, clicks DESC, channel`,
    params: clicks.params,
    seconds: 60,
  });
  return rows.map((row) => ({ channel: row.channel, ...toFigures(row) }));
}
