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
        operationId: 'getStats',
        summary: 'The workspace or a link in a window, over time, and in the window before',
        description:
          'Counts as `GET /channels` does: the sums of its rows are these `clicks`, `conversions` and `revenue`. A ' +
          'visitor of several channels or buckets counts once in the totals. `visitors` is exact up to a million ' +
          'clicks in the window, within 1 % above. A window is at most 100 years.',
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
        operationId: 'getBreakdown',
        summary: 'What the clicks of a window are made of',
        description:
          'By `channel` and `link` with conversions and revenue, most revenue first, then most clicks; links that were ' +
          'deleted are left out. By `country`, `device`, `browser` and `os` most clicks first. Bots count in nothing.',
        querystring: BreakdownQuery,
        response: { 200: Breakdown },
      },
    },
    async ({ auth, query }) => breakDown(deps, auth, query),
  );
}
