import { channelsReport, channelsWithValues } from '../../clickhouse/queries/channels-report.ts';
import { EXACT_CLICKS } from '../../clickhouse/queries/clicks-by.ts';
import { toMajor } from '../../core/money/money.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { reportWindow } from '../report-window.ts';
import { ChannelsQuery, ChannelsReport } from './schemas.ts';

/** `GET /channels`: what each channel brought. */
export async function channelRoutes(app: Api, { clickhouse }: ApiDeps): Promise<void> {
  app.get(
    '/channels',
    {
      config: { scope: 'secret', plan: 'paid', readsClicks: true },
      schema: {
        tags: ['Channels'],
        operationId: 'channels.list',
        summary: 'Get channel performance',
        description:
          'Channels with a click or an order in the window, most revenue first, then most clicks. Bots are excluded. An order counts if its own time is in the window. `visitors` is exact up to a million clicks in the window, accurate to 1 % above that, and never more than `clicks`.',
        querystring: ChannelsQuery,
        response: { 200: ChannelsReport },
      },
    },
    async ({ auth, query }) => {
      const { id, currency } = auth.workspace;
      const { shown, span } = reportWindow(query);
      const hasDeleted = auth.readingPoint?.hasDeletedLinks;
      const found =
        query.ltv === '1'
          ? await channelsWithValues(clickhouse, id, span, hasDeleted)
          : {
              channels: await channelsReport(clickhouse, id, span, EXACT_CLICKS, { hasDeleted }),
              values: null,
            };
      const { values } = found;
      const channels = found.channels.map(({ channel, clicks, visitors, conversions, revenueMinor }) => ({
        channel,
        clicks,
        visitors,
        conversions,
        revenue: toMajor(revenueMinor, currency),
        ...(values && { ltv: toMajor(values.get(channel) ?? 0n, currency) }),
      }));
      return { window: shown, channels };
    },
  );
}
