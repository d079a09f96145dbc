import { badRequest } from '../../../core/errors.ts';
import { AMOUNT_LIMIT, toMajor } from '../../../core/money/money.ts';
import { inTransaction, type Queryable } from '../../../sql/database/pool.ts';
import { type ListedCommission, listCommissions } from '../../../sql/referrals/commission-list.ts';
import { lockProgramShared } from '../../../sql/referrals/programs.ts';
import { addManualCommission, rejectCommission } from '../../../sql/transactions/manual-commission.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams } from '../../schemas.ts';
import { referrerInProgram } from '../enrollments/referrer-in-program.ts';
import { readMoney } from '../programs/settings.ts';
import {
  CommissionBody,
  CommissionList,
  CommissionQuery,
  CommissionRecord,
  type CommissionRecord as Record,
} from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Commissions'];
const ANY = { enrollmentId: null, programId: null, status: null, before: null };

/** Registers the routes of commissions: the list, bonuses and claw-backs, and rejections. Secret key. */
export async function commissionRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/commissions',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'commissions.list',
        summary: 'List commissions, newest first',
        querystring: CommissionQuery,
        response: { 200: CommissionList },
      },
    },
    async ({ auth, query }) => {
      const listed = await listCommissions(pool, auth.workspace.id, {
        id: null,
        enrollmentId: query.partner_id ?? null,
        programId: query.program_id ?? null,
        status: query.status ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(listed, query.limit, ({ id }) => id);
      return { commissions: page.rows.map(commissionRecord), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/commissions',
    {
      config: { ...CONFIG, idempotent: true, errors: ['not_found'] },
      schema: {
        tags,
        operationId: 'commissions.create',
        summary: 'Add a bonus or a claw-back',
        description:
          "A positive amount is a bonus, a negative one a claw-back that the next payout deducts. Both are eligible at once. `external_user_id` is the referrer's.",
        body: CommissionBody,
        response: { 201: CommissionRecord },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { auth, body } = request;
        const id = await create(tx, auth.workspace.id, body, new Date());
        await request.audit(tx, { targetId: id });
        return { status: 201, body: await recordOf(tx, auth.workspace.id, id) };
      }),
  );

  app.post(
    '/commissions/:id/reject',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'commissions.reject',
        summary: 'Reject a commission that is not paid',
        description:
          'Nothing is left of it, nor of the negative commissions that refunds wrote for it. An open payout file pays the rest of its line. A second call responds with the same body.',
        params: IdParams,
        response: { 200: CommissionRecord },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params } = request;
        await rejectCommission(tx, auth.workspace.id, { id: params.id, now: new Date() });
        await request.audit(tx);
        return recordOf(tx, auth.workspace.id, params.id);
      }),
  );
}

/** Returns the id of the new commission. */
async function create(tx: Queryable, workspaceId: string, body: CommissionBody, now: Date): Promise<string> {
  const enrollment = await referrerInProgram(tx, workspaceId, body);
  const { terms } = await lockProgramShared(tx, workspaceId, enrollment.program_id);
  const amountMinor = readMoney('amount', body.amount, terms.currency);
  if (amountMinor === 0) throw badRequest('amount', 'must not be 0');
  if (Math.abs(amountMinor) > AMOUNT_LIMIT) {
    const most = toMajor(AMOUNT_LIMIT, terms.currency);
    throw badRequest('amount', `must be from -${most} to ${most} ${terms.currency}`);
  }
  const { note } = body;
  return (await addManualCommission(tx, enrollment, { amountMinor, currency: terms.currency, note, now })).id;
}

async function recordOf(tx: Queryable, workspaceId: string, id: string): Promise<Record> {
  const [commission] = await listCommissions(tx, workspaceId, { ...ANY, id, limit: 1 });
  if (!commission) throw new Error(`commission ${id} is gone`);
  return commissionRecord(commission);
}

function commissionRecord(commission: ListedCommission): Record {
  const { currency } = commission;
  return {
    id: commission.id,
    program_id: commission.program_id,
    partner_id: commission.enrollment_id,
    external_user_id: commission.external_user_id,
    referrer_name: commission.referrer_name,
    referrer_email: commission.referrer_email,
    kind: commission.kind,
    order_id: commission.order_id,
    level: commission.level,
    amount: toMajor(commission.amount_minor, currency),
    remaining: toMajor(commission.remaining_minor, currency),
    currency,
    status: commission.status,
    held_until: commission.status === 'pending' ? commission.eligible_at.toISOString() : null,
    note: commission.note,
    created_at: commission.created_at.toISOString(),
  };
}
