import { AppError } from '../../core/errors.ts';
import { formatInstant, NANOS_PER_MICRO, requireInstant } from '../../core/time/timestamps.ts';
import { annotations } from '../../sql/console/annotations.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import {
  AnnotationBody,
  AnnotationList,
  AnnotationQuery,
  AnnotationRecord,
  MOST_ANNOTATIONS,
} from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Dashboards'];

/** Registers the routes of annotations: what happened, for the charts of all members. Secret key, paid plan. */
export async function annotationRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/annotations',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'annotations.list',
        summary: 'List annotations, newest first',
        querystring: AnnotationQuery,
        response: { 200: AnnotationList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await annotations.list(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return { annotations: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/annotations',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'annotations.create',
        summary: 'Annotate the chart',
        description: `Names what happened at a time, such as a release or the start of a campaign. The chart of the overview shows it to all members, and shared dashboards with \`show_annotations\` to their visitors. A workspace has at most ${MOST_ANNOTATIONS}; else 409.`,
        body: AnnotationBody,
        response: { 201: AnnotationRecord },
      },
    },
    async (request, reply) => {
      const { at, text } = request.body;
      const nanos = requireInstant('at', at);
      const instant = formatInstant(nanos - (nanos % NANOS_PER_MICRO), 6);
      return withIdempotency(pool, request, reply, async (tx) => {
        const { id } = await lockWorkspace(tx, request.auth.workspace.id);
        if ((await annotations.count(tx, id)) >= MOST_ANNOTATIONS) {
          throw new AppError(
            'conflict',
            `a workspace has at most ${MOST_ANNOTATIONS} annotations; delete one`,
          );
        }
        return { status: 201, body: await annotations.insert(tx, id, { at: instant, text }) };
      });
    },
  );

  app.delete(
    '/annotations/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'annotations.delete',
        summary: 'Delete an annotation',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async ({ auth, params }) => {
      if (!(await annotations.delete(pool, auth.workspace.id, params.id))) {
        throw new AppError('not_found', 'the workspace has no such annotation');
      }
      return { ok: true as const };
    },
  );
}
