import { reportWindow } from '../../analytics/report-window.ts';
import { channelsReport, channelsWithValues } from '../../clickhouse/reports/index.ts';
import { toMajor } from '../../core/money/money.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readingPointOf } from '../reading-point.ts';
import { ChannelsQuery, ChannelsReport } from './schemas.ts';

/** `GET /channels`: the figures of each channel. */
export async function channelRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.get(
    '/channels',
    {
      config: { scope: 'secret', plan: 'paid', readsClicks: true },
      schema: {
        tags: ['Channels'],
        operationId: 'channels.list',
        summary: 'Get channel performance',
        description:
          'Channels with a click, a lead or an order in the window, most revenue first, then most clicks. Bots are excluded. A lead or an order counts if its own time is in the window. `visitors` is exact up to a million clicks in the window, accurate to 1 % above that, and never more than `clicks`.',
        querystring: ChannelsQuery,
        response: { 200: ChannelsReport },
      },
    },
    async ({ auth, query, clickhouse }) => {
      const { id: workspaceId, currency } = auth.workspace;
      const { shown, span } = reportWindow(query, auth.workspace);
      const { hasDeletedLinks: hasDeleted } = await readingPointOf(deps, auth);
      const window = { workspaceId, span, hasDeleted };
      const found =
        query.ltv === '1'
          ? await channelsWithValues(clickhouse, window)
          : { channels: await channelsReport(clickhouse, window), values: null };
      const { values } = found;
      const channels = found.channels.map(
        ({ channel, clicks, visitors, leads, conversions, revenueMinor }) => ({
          channel,
          clicks,
          visitors,
          leads,
          conversions,
          revenue: toMajor(revenueMinor, currency),
          ...(values && { ltv: toMajor(values.get(channel) ?? 0n, currency) }),
        }),
      );
      return { window: shown, channels };
    },
  );
}
