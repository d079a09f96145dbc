import { inTransaction } from '../../../sql/database/pool.ts';
import { listEnrollments } from '../../../sql/referrals/enrollment-list.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { IdParams } from '../../schemas.ts';
import {
  EnrollmentChange,
  EnrollmentList,
  EnrollmentQuery,
  EnrollmentRecord,
  EnrollmentWithTotals,
} from './schemas.ts';
import { changeStatus, enrollmentRecord, noSuchEnrollment, withTotals } from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Referrals'];
const ANY = { programId: null, status: null, rewardMode: null, search: null, before: null };

/** Registers the routes of a workspace's referrers. Secret key, paid plan. */
export async function enrollmentRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;

  app.get(
    '/enrollments',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'enrollments.list',
        summary: 'List referrers, newest first',
        description: 'With all-time totals and balances, which are sums of the ledger.',
        querystring: EnrollmentQuery,
        response: { 200: EnrollmentList },
      },
    },
    async ({ auth, query }) => {
      const { id: workspaceId } = auth.workspace;
      const listed = await listEnrollments(pool, workspaceId, {
        id: null,
        programId: query.program_id ?? null,
        status: query.status ?? null,
        rewardMode: query.reward_mode ?? null,
        search: query.search ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(listed, query.limit, ({ id }) => id);
      return { enrollments: await withTotals(deps, workspaceId, page.rows), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/enrollments/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'enrollments.get',
        summary: 'Get a referrer',
        description: 'The id is the `partner_id`.',
        params: IdParams,
        response: { 200: EnrollmentWithTotals },
      },
    },
    async ({ auth, params }) => {
      const { id: workspaceId } = auth.workspace;
      const listed = await listEnrollments(pool, workspaceId, { ...ANY, id: params.id, limit: 1 });
      const [enrollment] = await withTotals(deps, workspaceId, listed);
      if (!enrollment) throw noSuchEnrollment();
      return enrollment;
    },
  );

  app.patch(
    '/enrollments/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'enrollments.update',
        summary: 'Suspend or approve a referrer',
        description:
          "A suspended referrer's link still redirects, but signups and purchases earn nothing and nothing is paid out. Rewards earned earlier stay and are paid after the referrer is approved again.",
        params: IdParams,
        body: EnrollmentChange,
        response: { 200: EnrollmentRecord },
      },
    },
    async ({ auth, params, body }) => {
      const given = { id: params.id, status: body.status, now: new Date() };
      return enrollmentRecord(await inTransaction(pool, (tx) => changeStatus(tx, auth.workspace.id, given)));
    },
  );
}
