import { inTransaction } from '../../../sql/database/pool.ts';
import { deleteCoupon, listCoupons } from '../../../sql/referrals/coupons.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams, Ok } from '../../schemas.ts';
import { CouponBody, CouponList, CouponQuery, CouponRecord, PromotionCodeInput } from './schemas.ts';
import {
  ANY,
  checkCoupon,
  checkDiscount,
  couponOf,
  couponRecord,
  createCoupon,
  makePromotionCode,
  noSuchCoupon,
} from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Coupons'];

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
      config: { ...CONFIG, idempotent: true, errors: ['not_found', 'conflict'], checkRest: checkCoupon },
      schema: {
        tags,
        operationId: 'coupons.create',
        summary: 'Give a referrer a coupon',
        description:
          "A payment provider's order with this code belongs to the referrer, without a click or a signup, unless the provider named a buyer with another referrer. A renewal of such an order belongs to the same referrer. `external_user_id` is the referrer's. A code that a referrer of the workspace has is a 409. With `promotion_code` the promotion code is made in Stripe within seconds; else make the discount at the provider yourself.",
        body: CouponBody,
        response: { 201: CouponRecord },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { auth, body } = request;
        const id = await createCoupon(tx, auth.workspace.id, body, new Date());
        await request.audit(tx, { targetId: id });
        return { status: 201, body: await couponOf(tx, auth.workspace.id, id) };
      }),
  );

  app.post(
    '/coupons/:id/promotion-code',
    {
      config: {
        ...CONFIG,
        errors: ['conflict'],
        checkRest: (body: PromotionCodeInput, faulty) => {
          // The terms belong together.
          if ([...faulty].every((name) => name === 'connection_id')) checkDiscount(body);
        },
      },
      schema: {
        tags,
        operationId: 'coupons.createPromotionCode',
        summary: 'Make the promotion code of a coupon in Stripe',
        description:
          'For a coupon without one, and for one whose attempts failed: it is tried again at once, with these terms. A promotion code that is made, or being made, is a 409.',
        params: IdParams,
        body: PromotionCodeInput,
        response: { 200: CouponRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      return inTransaction(pool, async (tx) => {
        const coupon = await couponOf(tx, auth.workspace.id, params.id);
        await makePromotionCode(tx, auth.workspace.id, coupon, { body, path: '', now: new Date() });
        await request.audit(tx);
        return couponOf(tx, auth.workspace.id, params.id);
      });
    },
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
          "Later orders with its code have no referrer. Earlier ones stay the referrer's, with their renewals. The code is free again. A promotion code that was made for it is deactivated.",
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { id } = request.params;
        if (!(await deleteCoupon(tx, request.auth.workspace.id, { id, now: new Date() }))) {
          throw noSuchCoupon();
        }
        await request.audit(tx);
        return { ok: true as const };
      }),
  );
}
