import { badRequest } from '../../../core/errors.ts';
import { AMOUNT_LIMIT, toMajor } from '../../../core/money/money.ts';
import { textCell } from '../../../core/text/csv-text.ts';
import { inTransaction, type Queryable } from '../../../sql/database/pool.ts';
import { type ListedCommission, listCommissions } from '../../../sql/referrals/commission-list.ts';
import { lockProgramShared } from '../../../sql/referrals/programs.ts';
import { addManualCommission, rejectCommission } from '../../../sql/transactions/manual-commission.ts';
import { requireBomOfCsv } from '../../byte-order-mark.ts';
import { CSV_CHUNK, pageOrCsv, sendCsv } from '../../csv-rows.ts';
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
/** The columns of the file of commissions. */
const COLUMNS: readonly [string, (commission: Record) => string][] = [
  ['id', ({ id }) => id],
  ['created_at', ({ created_at }) => created_at],
  ['partner_id', ({ partner_id }) => partner_id],
  ['referrer_name', ({ referrer_name }) => textCell(referrer_name ?? '')],
  ['referrer_email', ({ referrer_email }) => textCell(referrer_email ?? '')],
  ['external_user_id', ({ external_user_id }) => textCell(external_user_id)],
  ['program_id', ({ program_id }) => program_id],
  ['kind', ({ kind }) => kind],
  ['order_id', ({ order_id }) => textCell(order_id ?? '')],
  ['level', ({ level }) => String(level ?? '')],
  ['amount', ({ amount }) => String(amount)],
  ['remaining', ({ remaining }) => String(remaining)],
  ['currency', ({ currency }) => currency],
  ['status', ({ status }) => status],
  ['held_until', ({ held_until }) => held_until ?? ''],
  ['note', ({ note }) => textCell(note ?? '')],
];

const ANY = { enrollmentId: null, programId: null, status: null, before: null };

/** Registers the routes of commissions: the list, bonuses and claw-backs, and rejections. Secret key. */
export async function commissionRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/commissions',
    {
      config: { ...CONFIG, answers: { 200: pageOrCsv(CommissionList) } },
      // A HEAD would read a whole file for nothing.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'commissions.list',
        summary: 'List commissions, newest first',
        querystring: CommissionQuery,
        response: { 200: CommissionList },
      },
    },
    async (request, reply) => {
      const { auth, query } = request;
      const pageBefore = async (before: string | null, limit: number) => {
        const filter = {
          id: null,
          enrollmentId: query.partner_id ?? null,
          programId: query.program_id ?? null,
          status: query.status ?? null,
        };
        const listed = await listCommissions(pool, auth.workspace.id, {
          ...filter,
          before,
          limit: limit + 1,
        });
        const page = cutPageAt(listed, limit, ({ id }) => id);
        return { rows: page.rows.map(commissionRecord), next: page.nextCursor };
      };
      if (query.format === 'csv') {
        await request.audit(pool);
        const file = { name: 'commissions', bom: query.bom, columns: COLUMNS };
        return sendCsv(reply, file, (before: string | null) => pageBefore(before, CSV_CHUNK));
      }
      requireBomOfCsv(query);
      const page = await pageBefore(query.cursor ?? null, query.limit);
      return { commissions: page.rows, next_cursor: page.next };
    },
  );

  app.post(
    '/commissions',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['not_found'],
        checkRest: ({ amount }: Partial<CommissionBody>) => {
          if (amount === 0) throw noAmount();
        },
      },
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

const noAmount = () => badRequest('amount', 'must not be 0');

/** Returns the id of the new commission. */
async function create(tx: Queryable, workspaceId: string, body: CommissionBody, now: Date): Promise<string> {
  const enrollment = await referrerInProgram(tx, workspaceId, body);
  const { terms } = await lockProgramShared(tx, workspaceId, enrollment.program_id);
  const amountMinor = readMoney('amount', body.amount, terms.currency);
  if (amountMinor === 0) throw noAmount();
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
