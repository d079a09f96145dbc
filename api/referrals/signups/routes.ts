import { listSignups } from '../../../sql/referrals/signup-list.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { SignupList, SignupQuery } from './schemas.ts';

/** Registers the routes of reported signups. Secret key, paid plan. */
export async function signupRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/signups',
    {
      config: { scope: 'secret', plan: 'paid' },
      schema: {
        tags: ['Referrals'],
        operationId: 'signups.list',
        summary: 'List reported signups, newest first',
        description:
          'Includes blocked signups and why they earned nothing. A user without a referrer has no signup.',
        querystring: SignupQuery,
        response: { 200: SignupList },
      },
    },
    async ({ auth, query }) => {
      const rows = await listSignups(pool, auth.workspace.id, {
        programId: query.program_id ?? null,
        enrollmentId: query.partner_id ?? null,
        blocked: query.blocked ?? null,
        blockReason: query.block_reason ?? null,
        search: query.search ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(rows, query.limit, ({ id }) => id);
      return {
        signups: page.rows.map(({ state, enrollment_id, ...signup }) => ({
          ...signup,
          status: state,
          partner_id: enrollment_id,
          blocked: signup.block_reason !== null,
        })),
        next_cursor: page.nextCursor,
      };
    },
  );
}
