import { listTerms } from '../../../sql/referrals/program-terms.ts';
import { programById } from '../../../sql/referrals/programs.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams } from '../../schemas.ts';
import { checkTerms, publishTerms, termsRecord } from './publish-terms.ts';
import { noSuchProgram } from './service.ts';
import { TermsBody, TermsList, TermsQuery, TermsRecord } from './terms-schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Programs'];

/** Registers the terms that affiliates of a program accept. Secret key, paid plan. */
export async function programTermsRoutes(
  app: Api,
  { pool, config: { shortUrl }, blockedDomains }: ApiDeps,
): Promise<void> {
  app.get(
    '/programs/:id/terms',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'programs.listTerms',
        summary: 'List the terms of a program, newest version first',
        description: 'Every version that the program has had. They are kept for good.',
        params: IdParams,
        querystring: TermsQuery,
        response: { 200: TermsList },
      },
    },
    async ({ auth, params, query: { cursor, limit } }) => {
      const program = await programById(pool, auth.workspace.id, params.id);
      if (!program) throw noSuchProgram();
      const listed = await listTerms(pool, program.id, {
        version: null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(listed, limit, ({ number }) => number);
      return {
        terms: page.rows.map((terms) => termsRecord(terms, program.portal)),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.post(
    '/programs/:id/terms',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'], checkRest: checkTerms },
      schema: {
        tags,
        operationId: 'programs.publishTerms',
        summary: 'Publish new terms of a program',
        description:
          "They become `terms_text` or `terms_url` of the program's `portal`, and `terms_version`. Applicants accept them from now on, and affiliates are asked to when they sign in to the portal. What they earned does not depend on it. A 409 when the program has these very terms and you name no `version`.",
        params: IdParams,
        body: TermsBody,
        response: { 201: TermsRecord },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { auth, params, body } = request;
        const rules = { shortUrl, blockedDomains, now: new Date() };
        const terms = await publishTerms(tx, auth.workspace.id, params.id, body, rules);
        await request.audit(tx);
        return { status: 201, body: terms };
      }),
  );
}
