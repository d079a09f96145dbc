import { inTransaction } from '../../../sql/database/pool.ts';
import { createOutbox } from '../../../sql/mail/outbox.ts';
import { enrollmentHistory } from '../../../sql/referrals/enrollment-history.ts';
import { listEnrollments } from '../../../sql/referrals/enrollment-list.ts';
import { lockEnrollment } from '../../../sql/referrals/enrollments.ts';
import { listPrograms } from '../../../sql/referrals/programs.ts';
import { deleteEnrollment } from '../../../sql/transactions/delete-enrollment.ts';
import { actorOf } from '../../actor.ts';
import { requireBomOfCsv } from '../../byte-order-mark.ts';
import { CSV_CHUNK, pageOrCsv, sendCsv } from '../../csv-rows.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { IdParams, Ok } from '../../schemas.ts';
import { confirmPayoutMethod } from '../payout-method.ts';
import { changeEnrollment, checkChange } from './change.ts';
import { ENROLLMENT_COLUMNS, enrollmentPage, newestEnrollments } from './list.ts';
import {
  EnrollmentChange,
  EnrollmentHistory,
  EnrollmentList,
  EnrollmentQuery,
  EnrollmentRecord,
  EnrollmentWithTotals,
  HistoryQuery,
  PayoutConfirmation,
} from './schemas.ts';
import { enrollmentRecord, noSuchEnrollment, withTotals } from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Referrals'];
const ANY = { programId: null, status: null, rewardMode: null, groupId: null, search: null, before: null };

/** Registers the routes of a workspace's referrers. Secret key, paid plan. */
export async function enrollmentRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const outbox = createOutbox(config.mail !== null);

  app.get(
    '/enrollments',
    {
      config: { ...CONFIG, readsClicks: true, answers: { 200: pageOrCsv(EnrollmentList) } },
      // A HEAD would read a whole file for nothing.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'enrollments.list',
        summary: 'List referrers, newest first or in another order',
        description:
          "With all-time totals and balances, which are sums of the ledger. In CSV, amounts are in the currency of the referrer's program, and those in others in `other_currencies`.",
        querystring: EnrollmentQuery,
        response: { 200: EnrollmentList },
      },
    },
    async (request, reply) => {
      const { auth, query, clickhouse } = request;
      const own = { ...deps, clickhouse };
      if (query.format === 'json') {
        requireBomOfCsv(query);
        return enrollmentPage(own, auth.workspace, query);
      }
      await request.audit(pool);
      const programs = new Map((await listPrograms(pool, auth.workspace.id)).map((one) => [one.id, one]));
      const file = { name: 'referrers', bom: query.bom, columns: ENROLLMENT_COLUMNS };
      return sendCsv(reply, file, async (before: string | null) => {
        const asked = { ...query, limit: CSV_CHUNK, cursor: before ?? undefined };
        const page = await newestEnrollments(own, auth.workspace.id, asked);
        const rows = page.enrollments.map((enrollment) => {
          const program = programs.get(enrollment.program_id);
          return {
            enrollment,
            program: {
              name: program?.name ?? '',
              currency: program?.terms.currency ?? auth.workspace.currency,
            },
          };
        });
        return { rows, next: page.next_cursor };
      });
    },
  );

  app.get(
    '/enrollments/:id',
    {
      config: { ...CONFIG, readsClicks: true },
      schema: {
        tags,
        operationId: 'enrollments.get',
        summary: 'Get a referrer',
        description: 'The id is the `partner_id`.',
        params: IdParams,
        response: { 200: EnrollmentWithTotals },
      },
    },
    async ({ auth, params, clickhouse }) => {
      const { id: workspaceId } = auth.workspace;
      const listed = await listEnrollments(pool, workspaceId, { ...ANY, id: params.id, limit: 1 });
      const [enrollment] = await withTotals({ ...deps, clickhouse }, workspaceId, listed);
      if (!enrollment) throw noSuchEnrollment();
      return enrollment;
    },
  );

  app.patch(
    '/enrollments/:id',
    {
      config: {
        ...CONFIG,
        errors: ['method_not_offered', 'conflict'],
        checksAll: true,
        checkRest: checkChange,
      },
      schema: {
        tags,
        operationId: 'enrollments.update',
        summary: 'Change a referrer',
        description:
          "A suspended referrer's link still redirects, but signups and purchases earn nothing and nothing is paid out. Rewards earned earlier stay and are paid after the referrer is approved again. A payout address that this call sets is paid at once, also where a page set the same one before.",
        params: IdParams,
        body: EnrollmentChange,
        response: { 200: EnrollmentRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const given = { id: params.id, change: body };
      const origin = { now: new Date(), by: actorOf(request) };
      const changed = await inTransaction(pool, async (tx) => {
        const changed = await changeEnrollment(tx, auth.workspace.id, given, origin, outbox);
        await request.audit(tx);
        return changed;
      });
      return enrollmentRecord(changed);
    },
  );

  app.post(
    '/enrollments/:id/confirm-payout-method',
    {
      config: { ...CONFIG, recentSignIn: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'enrollments.confirmPayoutMethod',
        summary: "Confirm a referrer's payout address",
        description:
          'Payout files then no longer leave the balance out because a page changed the address. Ask the referrer first: a stranger who changed the address would be paid. A 409 if no address is saved, or if it has changed since `payout_held_until` was read. A member confirms that it is them, as for a change of keys.',
        params: IdParams,
        body: PayoutConfirmation,
        response: { 200: EnrollmentRecord },
      },
    },
    async (request) => {
      const origin = { now: new Date(), by: actorOf(request) };
      const seen = request.body.payout_held_until;
      const changed = await inTransaction(pool, async (tx) => {
        const known = await lockEnrollment(tx, request.auth.workspace.id, request.params.id);
        if (!known) throw noSuchEnrollment();
        const changed = await confirmPayoutMethod(tx, known, seen, origin);
        await request.audit(tx, { targetId: known.id, details: { payout_held_until: seen } });
        return changed;
      });
      return enrollmentRecord(changed);
    },
  );

  app.delete(
    '/enrollments/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'enrollments.delete',
        summary: 'Erase a referrer',
        description:
          'Name, emails, device and addresses are erased, also from the history, payout files and the own signup. Ids and amounts stay in the ledger. The link still redirects, but matches no signup. The same user may enroll again.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const origin = { now: new Date(), by: actorOf(request) };
      await inTransaction(pool, async (tx) => {
        const known = await lockEnrollment(tx, request.auth.workspace.id, request.params.id);
        if (!known) throw noSuchEnrollment();
        await deleteEnrollment(tx, known, origin);
        await request.audit(tx);
      });
      return { ok: true as const };
    },
  );

  app.get(
    '/enrollments/:id/history',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'enrollments.listHistory',
        summary: 'List the changes of a referrer, newest first',
        description:
          'Each change with the key or member that made it. Payout addresses and emails are masked.',
        params: IdParams,
        querystring: HistoryQuery,
        response: { 200: EnrollmentHistory },
      },
    },
    async ({ auth, params, query }) => {
      const entries = await enrollmentHistory(pool, auth.workspace.id, params.id, {
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      if (!entries) throw noSuchEnrollment();
      const page = cutPageAt(entries, query.limit, ({ id }) => id);
      return {
        history: page.rows.map(({ id: _, at, ...entry }) => ({ at: at.toISOString(), ...entry })),
        next_cursor: page.nextCursor,
      };
    },
  );
}
