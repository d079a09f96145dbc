import { AppError, badRequest } from '../../core/errors.ts';
import { utmTemplates } from '../../sql/links/utm-templates.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import {
  MOST_TEMPLATES,
  UTM_PARAMETERS,
  UtmTemplateBody,
  UtmTemplateList,
  UtmTemplateQuery,
  UtmTemplateRecord,
} from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Links'];

/** Registers the routes of UTM templates, which all members of a workspace share. Secret key, paid plan. */
export async function utmTemplateRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/utm-templates',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'utmTemplates.list',
        summary: 'List UTM templates, newest first',
        querystring: UtmTemplateQuery,
        response: { 200: UtmTemplateList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await utmTemplates.list(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return { utm_templates: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/utm-templates',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'], checkRest: requireParameter },
      schema: {
        tags,
        operationId: 'utmTemplates.create',
        summary: 'Create a UTM template',
        description: `A name for UTM parameters, at least one, which the console fills into the form of a link. A parameter that is left out or null is not of the template. A workspace has at most ${MOST_TEMPLATES}; else 409.`,
        body: UtmTemplateBody,
        response: { 201: UtmTemplateRecord },
      },
    },
    async (request, reply) => {
      const { body } = request;
      requireParameter(body);
      const fields = {
        name: body.name,
        utm_source: body.utm_source ?? null,
        utm_medium: body.utm_medium ?? null,
        utm_campaign: body.utm_campaign ?? null,
        utm_term: body.utm_term ?? null,
        utm_content: body.utm_content ?? null,
      };
      return withIdempotency(pool, request, reply, async (tx) => {
        const { id } = await lockWorkspace(tx, request.auth.workspace.id);
        if ((await utmTemplates.count(tx, id)) >= MOST_TEMPLATES) {
          throw new AppError(
            'conflict',
            `a workspace has at most ${MOST_TEMPLATES} UTM templates; delete one`,
          );
        }
        return { status: 201, body: await utmTemplates.insert(tx, id, fields) };
      });
    },
  );

  app.delete(
    '/utm-templates/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'utmTemplates.delete',
        summary: 'Delete a UTM template',
        description: 'Links that were made with it keep their parameters.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async ({ auth, params }) => {
      if (!(await utmTemplates.delete(pool, auth.workspace.id, params.id))) {
        throw new AppError('not_found', 'the workspace has no such UTM template');
      }
      return { ok: true as const };
    },
  );
}

/** @throws {AppError} `bad_request` when a template has no parameter. @param faulty fields that are left out */
function requireParameter(body: Partial<UtmTemplateBody>, faulty: ReadonlySet<string> = new Set()): void {
  if (UTM_PARAMETERS.every((name) => (body[name] ?? null) === null && !faulty.has(name)))
    throw badRequest('utm_source', 'or another UTM parameter must be given');
}
