import type { Api, ApiDeps } from '../dependencies.ts';
import { Breakdown, BreakdownQuery, Stats, StatsQuery } from './schemas.ts';
import { breakDown, describeStats } from './service.ts';

const tags = ['Statistics'];
const config = { scope: 'secret', plan: 'paid', readsClicks: true } as const;

/** `GET /stats` and `GET /stats/breakdown`: the whole workspace or a link over time, and what it is made of. */
export async function statsRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.get(
    '/stats',
    {
      config,
      schema: {
        tags,
        operationId: 'stats.get',
        summary: 'Get totals, a time series and the previous period',
        description:
          'For the workspace or one link. Counts agree with `GET /channels`: the sums of its rows equal these `clicks`, `conversions` and `revenue`. A visitor of several channels or buckets counts once in the totals. `visitors` is exact up to a million clicks in the window and accurate to 1 % above that. A window is at most 100 years.',
        querystring: StatsQuery,
        response: { 200: Stats },
      },
    },
    async ({ auth, query }) => describeStats(deps, auth, query),
  );

  app.get(
    '/stats/breakdown',
    {
      config,
      schema: {
        tags,
        operationId: 'stats.getBreakdown',
        summary: 'Break down clicks by a dimension',
        description:
          'By `channel` and `link`, rows have conversions and revenue and are sorted by revenue, then clicks. Deleted links are left out. By `country`, `device`, `browser` and `os`, rows are sorted by clicks. Bots are excluded.',
        querystring: BreakdownQuery,
        response: { 200: Breakdown },
      },
    },
    async ({ auth, query }) => breakDown(deps, auth, query),
  );
}
