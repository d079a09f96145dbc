import { type JourneyStep, visitorJourney } from '../../clickhouse/queries/visitor-journey.ts';
import { AppError } from '../../core/errors.ts';
import { toMajor } from '../../core/money/money.ts';
import { formatInstant } from '../../core/time/timestamps.ts';
import { slugsOfLinks } from '../../sql/links/slugs.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readingPointOf } from '../reading-point.ts';
import { IdParams } from '../schemas.ts';
import { Journey, JourneyQuery, Visitors, VisitorsQuery } from './schemas.ts';
import { listVisitors } from './service.ts';

/** Maximum entries of a journey, the newest. */
const JOURNEY_LIMIT = 10_000;

/** Registers `GET /visitors` and `GET /visitors/:id/journey`. */
export async function visitorRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;

  app.get(
    '/visitors',
    {
      config: { scope: 'secret', plan: 'paid', readsClicks: true },
      schema: {
        tags: ['Visitors'],
        operationId: 'visitors.list',
        summary: 'List recent visitors, or find some',
        description:
          'Each visitor has its newest click. With `email` or `search`, visitors are sorted by their last identify with the email or user, newest first; those found by the id come first. Bots are found by an email or user only.',
        querystring: VisitorsQuery,
        response: { 200: Visitors },
      },
    },
    async ({ auth, query, clickhouse }) => listVisitors({ pool, clickhouse }, auth.workspace.id, query),
  );

  app.get(
    '/visitors/:id/journey',
    {
      config: { scope: 'secret', plan: 'paid', readsClicks: true },
      schema: {
        tags: ['Visitors'],
        operationId: 'visitors.getJourney',
        summary: 'Get the journey of a visitor',
        description:
          "The visitor's clicks, identifies and orders, oldest first, at most the newest 10,000. An order without a visitor is in the journeys of the visitors who identified with its email.",
        params: IdParams,
        querystring: JourneyQuery,
        response: { 200: Journey },
      },
    },
    async ({ auth, params, query, clickhouse }) => {
      const id = params.id.toLowerCase();
      const { workspace } = auth;
      const { hasDeletedLinks } = await readingPointOf(deps, auth);
      const of = { workspaceId: workspace.id, visitorId: id, hasDeletedLinks };
      const found = await visitorJourney(clickhouse, of, JOURNEY_LIMIT);
      if (!found) throw new AppError('not_found', 'the workspace has no such visitor');
      const { summary, steps } = found;
      const links = new Set(steps.flatMap((step) => (step.type === 'click' ? [step.linkId] : [])));
      const slugs = await slugsOfLinks(pool, workspace.id, [...links]);
      return {
        visitor: {
          id,
          email: summary.email,
          first_seen: formatInstant(summary.firstSeenNanos, 6),
          last_seen: formatInstant(summary.lastSeenNanos, 6),
        },
        journey: steps.map((step) => toEntry(step, slugs, query.include === 'details')),
      };
    },
  );
}

function toEntry(step: JourneyStep, slugs: Map<string, string>, withDetails: boolean) {
  const ts = formatInstant(step.tsNanos, 6);
  switch (step.type) {
    case 'click':
      return {
        type: step.type,
        ts,
        channel: step.channel,
        slug: slugs.get(step.linkId) ?? '',
        ...(withDetails && { link_id: step.linkId, ...step.details }),
      };
    case 'identify':
      return { type: step.type, ts, email: step.email === '' ? null : step.email };
    case 'order':
      return {
        type: step.type,
        ts,
        amount: toMajor(step.amountMinor, step.currency),
        currency: step.currency,
      };
  }
}
