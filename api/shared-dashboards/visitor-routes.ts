import { answerQuery, checkQuery } from '../../analytics/answer-query.ts';
import { passwordMatches } from '../../core/access/passwords.ts';
import { AppError } from '../../core/errors.ts';
import { readAll } from '../../core/faults.ts';
import { AnalyticsQuery, AnalyticsResult } from '../analytics/schemas.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { createReportLimit } from '../plugins/report-limit.ts';
import { Ok } from '../schemas.ts';
import { createHashKey } from '../session/hash-key.ts';
import { createTries } from '../session/tries.ts';
import { createDashboardAccess, requireOpenDashboard } from './access.ts';
import { DashboardView, TokenParams, UnlockBody } from './schemas.ts';
import { scopedQuery, withAbsentTags } from './scoped-query.ts';
import { isScopeGone, sharedAnnotations } from './service.ts';

const tags = ['Shared dashboards'];
const PUBLIC = { scope: 'public', plan: 'any', console: true } as const;

/** Stands for the workspace of a dashboard that is not looked up yet. */
const ANY_WORKSPACE = { id: '', currency: 'usd', time_zone: null, retention_months: null };

/** Concurrent reads of a workspace's clicks by visitors. Strangers leave slots for the workspace itself. */
const VISITORS_AT_A_TIME = 4;

/**
 * Registers the calls of a shared dashboard's page. The token in the path is the key; a dashboard may need a password
 * too.
 */
export async function visitorRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const key = createHashKey(pool);
  const tries = createTries(pool, key);
  const access = createDashboardAccess(key, config.appUrl);
  const limit = createReportLimit(VISITORS_AT_A_TIME);

  app.get(
    '/shared/:token',
    {
      config: { ...PUBLIC, errors: ['unauthorized', 'not_found'] },
      schema: {
        tags,
        operationId: 'shared.get',
        summary: 'Get a shared dashboard',
        description: 'A 401 when it has a password that this browser did not enter.',
        params: TokenParams,
        response: { 200: DashboardView },
      },
    },
    async (request, reply): Promise<DashboardView> => {
      reply.header('cache-control', 'no-store');
      const { dashboard, workspace } = await requireOpenDashboard(pool, request.params.token);
      await access.require(request, dashboard);
      return {
        name: dashboard.name,
        show_revenue: dashboard.show_revenue,
        currency: workspace.currency,
        time_zone: workspace.time_zone,
        annotations: dashboard.show_annotations ? await sharedAnnotations(pool, workspace.id) : [],
        is_scope_gone: await isScopeGone(pool, dashboard),
        expires_at: dashboard.expires_at,
      };
    },
  );

  app.post(
    '/shared/:token/unlock',
    {
      config: { ...PUBLIC, errors: ['unauthorized', 'not_found', 'too_many_requests'] },
      schema: {
        tags,
        operationId: 'shared.unlock',
        summary: 'Enter the password of a shared dashboard',
        description:
          'Sets a cookie for seven days. After five wrong passwords in a minute, a 429 with `Retry-After`.',
        params: TokenParams,
        body: UnlockBody,
        response: { 200: Ok },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { dashboard } = await requireOpenDashboard(pool, request.params.token);
      const { id, password_hash } = dashboard;
      if (password_hash === null) return { ok: true as const };
      const isRight = await tries({ account: `dashboard ${id}`, address: request.ip }, async () =>
        (await passwordMatches(request.body.password, password_hash)) ? true : null,
      );
      if (!isRight) throw new AppError('unauthorized', 'the password is wrong');
      await access.grant(reply, dashboard);
      return { ok: true as const };
    },
  );

  app.post(
    '/shared/:token/query',
    {
      config: {
        ...PUBLIC,
        errors: ['unauthorized', 'not_found', 'unavailable'],
        checksAll: true,
        checkRest: (body: Partial<AnalyticsQuery>, faulty) => checkQuery(body, ANY_WORKSPACE, faulty),
      },
      schema: {
        tags,
        operationId: 'shared.query',
        summary: 'Query the figures of a shared dashboard',
        description:
          'As `POST /analytics/query`, within the scope of the dashboard. Revenue is refused unless the dashboard shows it.',
        params: TokenParams,
        body: AnalyticsQuery,
        response: { 200: AnalyticsResult },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { dashboard, workspace } = await requireOpenDashboard(pool, request.params.token);
      await access.require(request, dashboard);
      const { query } = readAll({
        fields: () => checkQuery(request.body, workspace),
        query: () => scopedQuery(dashboard, request.body),
      });
      const release = await limit.take(workspace.id);
      try {
        const result = await deps.readers.read((clickhouse) =>
          answerQuery({ ...deps, clickhouse }, { workspace }, query),
        );
        return withAbsentTags(request.body, query, result);
      } finally {
        release();
      }
    },
  );
}
