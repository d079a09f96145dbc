import { AppError } from '../../core/errors.ts';
import {
  countSharedDashboards,
  deleteSharedDashboard,
  insertSharedDashboard,
  listSharedDashboards,
  lockSharedDashboard,
  updateSharedDashboard,
} from '../../sql/console/shared-dashboards.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withPreparedIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import {
  SharedDashboardBody,
  SharedDashboardChange,
  SharedDashboardList,
  SharedDashboardQuery,
  SharedDashboardRecord,
} from './schemas.ts';
import {
  changedFields,
  checkDashboard,
  DEFAULT_FIELDS,
  MOST_DASHBOARDS,
  newDashboardToken,
  oneRecordOf,
  passwordHashOf,
  recordsOf,
} from './service.ts';
import { visitorRoutes } from './visitor-routes.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Dashboards'];
const notFound = () => new AppError('not_found', 'the workspace has no such shared dashboard');

/** Registers the routes of shared dashboards: for the workspace, and for the visitors of a dashboard. */
export async function sharedDashboardRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;

  app.get(
    '/shared-dashboards',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'sharedDashboards.list',
        summary: 'List shared dashboards, newest first',
        querystring: SharedDashboardQuery,
        response: { 200: SharedDashboardList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await listSharedDashboards(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return {
        shared_dashboards: await recordsOf(pool, auth.workspace.id, config.appUrl, page.rows),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.post(
    '/shared-dashboards',
    {
      config: { ...CONFIG, idempotent: true, errors: ['not_found', 'conflict'], checkRest: checkDashboard },
      schema: {
        tags,
        operationId: 'sharedDashboards.create',
        summary: 'Share a dashboard',
        description: `Anyone with its \`url\` sees the figures of its scope, without signing in. A workspace has at most ${MOST_DASHBOARDS}; else 409.`,
        body: SharedDashboardBody,
        response: { 201: SharedDashboardRecord },
      },
    },
    async (request, reply) => {
      const prepare = () => passwordHashOf(request.body);
      return withPreparedIdempotency(pool, request, reply, prepare, async (tx, passwordHash) => {
        const { id } = await lockWorkspace(tx, request.auth.workspace.id);
        if ((await countSharedDashboards(tx, id)) >= MOST_DASHBOARDS) {
          throw new AppError(
            'conflict',
            `a workspace has at most ${MOST_DASHBOARDS} shared dashboards; delete one`,
          );
        }
        const fields = await changedFields(tx, id, DEFAULT_FIELDS, request.body, passwordHash);
        const made = await insertSharedDashboard(tx, id, newDashboardToken(), fields);
        await request.audit(tx, { targetId: made.id });
        return { status: 201, body: await oneRecordOf(tx, id, config.appUrl, made) };
      });
    },
  );

  app.patch(
    '/shared-dashboards/:id',
    {
      config: { ...CONFIG, checkRest: checkDashboard },
      schema: {
        tags,
        operationId: 'sharedDashboards.update',
        summary: 'Change a shared dashboard',
        description: 'Its URL stays. A new password ends the access of those who entered the old one.',
        params: IdParams,
        body: SharedDashboardChange,
        response: { 200: SharedDashboardRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const passwordHash = await passwordHashOf(body);
      const workspaceId = auth.workspace.id;
      const changed = await inTransaction(pool, async (tx) => {
        const before = await lockSharedDashboard(tx, workspaceId, params.id);
        if (!before) throw notFound();
        const fields = await changedFields(tx, workspaceId, before, body, passwordHash);
        await request.audit(tx);
        return updateSharedDashboard(tx, workspaceId, before.id, fields);
      });
      return oneRecordOf(pool, workspaceId, config.appUrl, changed);
    },
  );

  app.delete(
    '/shared-dashboards/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'sharedDashboards.delete',
        summary: 'Stop sharing a dashboard',
        description: 'Its URL returns 404 from then on.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteSharedDashboard(tx, request.auth.workspace.id, request.params.id)))
          throw notFound();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  await visitorRoutes(app, deps);
}
