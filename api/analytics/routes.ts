import { answerQuery, checkQuery } from '../../analytics/answer-query.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readingPointOf } from '../reading-point.ts';
import { AnalyticsQuery, AnalyticsResult } from './schemas.ts';

/** `POST /analytics/query`: any metric by any dimension, with filters. */
export async function analyticsRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.post(
    '/analytics/query',
    {
      config: {
        scope: 'secret',
        plan: 'paid',
        role: 'analyst',
        readsClicks: true,
        checkRest: (body: Partial<AnalyticsQuery>, faulty, { auth }) =>
          checkQuery(body, auth.workspace, faulty),
      },
      schema: {
        tags: ['Analytics'],
        operationId: 'analytics.query',
        summary: 'Query clicks, leads, conversions and revenue',
        description:
          'Counts agree with `GET /channels` and `GET /links`. Leads and orders without a credited click are in no figure. `time:*`, `weekday` and `hour_of_day` go by their own time, every other dimension by the credited click. `campaign`, `tag` and `folder` are what the link has now: a link with several tags counts in the row of each, and once in the totals. Every bucket of the window is there, also empty ones; a query has at most 10,080. `visitors` is exact up to a million clicks in the window and accurate to 1 % above that. Comparing adds figures to the rows of the window; a bucket is compared with the bucket at its position.',
        body: AnalyticsQuery,
        response: { 200: AnalyticsResult },
      },
    },
    async ({ auth, body, clickhouse }) =>
      answerQuery(
        { ...deps, clickhouse },
        { workspace: auth.workspace, point: await readingPointOf(deps, auth) },
        body,
      ),
  );
}
