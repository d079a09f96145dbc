import { AppError, badRequest } from '../../../core/errors.ts';
import { inTransaction, type Queryable } from '../../../sql/database/pool.ts';
import {
  type CouponFilter,
  deleteCoupon,
  insertCoupon,
  type ListedCoupon,
  listCoupons,
} from '../../../sql/referrals/coupons.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams, Ok } from '../../schemas.ts';
import { referrerInProgram } from '../enrollments/referrer-in-program.ts';
import { CouponBody, CouponList, CouponQuery, CouponRecord, type CouponRecord as Record } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Coupons'];
const ANY: Omit<CouponFilter, 'limit'> = {
  id: null,
  code: null,
  externalUserId: null,
  enrollmentId: null,
  programId: null,
  before: null,
};

/** Registers the routes of referrers' coupons. Secret key, paid plan. */
export async function couponRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/coupons',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'coupons.list',
        summary: 'List coupons, newest first',
        querystring: CouponQuery,
        response: { 200: CouponList },
      },
    },
    async ({ auth, query }) => {
      const listed = await listCoupons(pool, auth.workspace.id, {
        ...ANY,
        code: query.code ?? null,
        externalUserId: query.external_user_id ?? null,
        enrollmentId: query.partner_id ?? null,
        programId: query.program_id ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(listed, query.limit, ({ id }) => id);
      return { coupons: page.rows.map(couponRecord), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/coupons',
    {
      config: { ...CONFIG, idempotent: true, errors: ['not_found', 'conflict'] },
      schema: {
        tags,
        operationId: 'coupons.create',
        summary: 'Give a referrer a coupon',
        description:
          "A payment provider's order with this code belongs to the referrer, without a click or a signup, unless the provider named a buyer with another referrer. A renewal of such an order belongs to the same referrer. `external_user_id` is the referrer's. A code that a referrer of the workspace has is a 409.",
        body: CouponBody,
        response: { 201: CouponRecord },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { auth, body } = request;
        const id = await create(tx, auth.workspace.id, body, new Date());
        await request.audit(tx, { targetId: id });
        const [coupon] = await listCoupons(tx, auth.workspace.id, { ...ANY, id, limit: 1 });
        if (!coupon) throw new Error(`coupon ${id} is gone`);
        return { status: 201, body: couponRecord(coupon) };
      }),
  );

  app.delete(
    '/coupons/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'coupons.delete',
        summary: 'Delete a coupon',
        description:
          "Later orders with its code have no referrer. Earlier ones stay the referrer's, with their renewals. The code is free again.",
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { id } = request.params;
        if (!(await deleteCoupon(tx, request.auth.workspace.id, { id, now: new Date() }))) {
          throw new AppError('not_found', 'the workspace has no such coupon');
        }
        await request.audit(tx);
        return { ok: true as const };
      }),
  );
}

/** Returns the id of the new coupon. */
async function create(tx: Queryable, workspaceId: string, body: CouponBody, now: Date): Promise<string> {
  const code = body.code.trim();
  if (code === '') throw badRequest('code', 'must not be blank');
  const { id: enrollmentId } = await referrerInProgram(tx, workspaceId, body);
  const id = await insertCoupon(tx, { workspaceId, enrollmentId, code, now });
  if (id === null) throw new AppError('conflict', `a referrer of the workspace has the code ${code}`);
  return id;
}

function couponRecord({ enrollment_id, ...coupon }: ListedCoupon): Record {
  return { ...coupon, partner_id: enrollment_id };
}
