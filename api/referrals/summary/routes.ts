import type { Api, ApiDeps } from '../../dependencies.ts';
import { Summary, SummaryQuery } from './schemas.ts';
import { referralSummary } from './service.ts';

/** Registers the summary of the referral programs. Secret key, paid plan. */
export async function referralSummaryRoutes(app: Api, deps: ApiDeps): Promise<void> {
  app.get(
    '/referrals/summary',
    {
      config: { scope: 'secret', plan: 'paid', readsClicks: true },
      schema: {
        tags: ['Referrals'],
        operationId: 'referrals.getSummary',
        summary: 'Get what all referrers brought',
        description:
          'Totals of the referral programs with those of the days before, what is owed, who brought most, and what waits for a decision. Counts as the stats of each referrer do: signups by the time of their report, purchases by their own, without blocked and held ones.',
        querystring: SummaryQuery,
        response: { 200: Summary },
      },
    },
    ({ auth, query, clickhouse }) =>
      referralSummary(
        { ...deps, clickhouse },
        auth.workspace,
        { days: query.days, programId: query.program_id ?? null },
        new Date(),
      ),
  );
}
