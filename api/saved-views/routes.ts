import { AppError } from '../../core/errors.ts';
import { savedViews } from '../../sql/console/saved-views.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { keepQueryOfView } from '../../sql/reports/reports.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { requireViewQuery } from './check-query.ts';
import { SavedViewBody, SavedViewList, SavedViewQuery, SavedViewRecord } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Dashboards'];
/** Maximum number of saved views of a workspace. */
const MOST_VIEWS = 500;

/** Registers the routes of saved views, which all members of a workspace share. Secret key, paid plan. */
export async function savedViewRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/saved-views',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'savedViews.list',
        summary: 'List saved views, newest first',
        querystring: SavedViewQuery,
        response: { 200: SavedViewList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await savedViews.list(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return { saved_views: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/saved-views',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict'],
        checkRest: ({ query }: { query?: Record<string, unknown> }, _, { auth }) =>
          void (query && requireViewQuery(query, auth.workspace)),
      },
      schema: {
        tags,
        operationId: 'savedViews.create',
        summary: 'Save a view',
        description: `A name and a query, for all members of the workspace. A workspace has at most ${MOST_VIEWS}; else 409.`,
        body: SavedViewBody,
        response: { 201: SavedViewRecord },
      },
    },
    async (request, reply) => {
      const { name } = request.body;
      const query = requireViewQuery(request.body.query, request.auth.workspace);
      return withIdempotency(pool, request, reply, async (tx) => {
        const { id } = await lockWorkspace(tx, request.auth.workspace.id);
        if ((await savedViews.count(tx, id)) >= MOST_VIEWS) {
          throw new AppError('conflict', `a workspace has at most ${MOST_VIEWS} saved views; delete one`);
        }
        return { status: 201, body: await savedViews.insert(tx, id, { name, query }) };
      });
    },
  );

  app.delete(
    '/saved-views/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'savedViews.delete',
        summary: 'Delete a saved view',
        description: 'Reports of it keep its query, and continue.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async ({ auth, params }) => {
      const isDeleted = await inTransaction(pool, async (tx) => {
        await keepQueryOfView(tx, auth.workspace.id, params.id);
        return savedViews.delete(tx, auth.workspace.id, params.id);
      });
      if (!isDeleted) throw new AppError('not_found', 'the workspace has no such saved view');
      return { ok: true as const };
    },
  );
}
