import { toMajor } from '../../../core/money/money.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { listPurchases } from '../../../sql/referrals/purchase-list.ts';
import { reevaluatePurchase } from '../../../sql/transactions/reevaluate-purchase.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { purchaseAnswer } from '../report-purchase.ts';
import { PurchaseAnswer } from '../schemas.ts';
import { InternalOrderIdParams, PurchaseList, PurchaseQuery } from './schemas.ts';

/** Registers the routes of purchases and their outcomes. Secret key, paid plan. */
export async function purchaseRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/purchases',
    {
      config: { scope: 'secret', plan: 'paid' },
      schema: {
        tags: ['Referrals'],
        operationId: 'purchases.list',
        summary: 'List reported purchases, newest first',
        description:
          'With the referrer of the buyer, and why a referred purchase earned nothing. Sorted by internal order id.',
        querystring: PurchaseQuery,
        response: { 200: PurchaseList },
      },
    },
    async ({ auth, query }) => {
      const rows = await listPurchases(pool, auth.workspace.id, {
        programId: query.program_id ?? null,
        enrollmentId: query.partner_id ?? null,
        matched: query.matched ?? null,
        rewarded: query.rewarded ?? null,
        held: query.held ?? null,
        reason: query.reason ?? null,
        orderId: query.order_id ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(rows, query.limit, ({ order_internal_id }) => order_internal_id);
      return {
        purchases: page.rows.map((row) => {
          const {
            order_internal_id,
            enrollment_id,
            amount_minor,
            refunded_minor,
            commissionable_minor,
            ...purchase
          } = row;
          return {
            ...purchase,
            internal_order_id: order_internal_id,
            matched: enrollment_id !== null,
            partner_id: enrollment_id,
            amount: toMajor(amount_minor, purchase.currency),
            commissionable_amount: toMajor(commissionable_minor ?? amount_minor, purchase.currency),
            refunded: toMajor(refunded_minor, purchase.currency),
          };
        }),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.post(
    '/purchases/:internal_order_id/reevaluate',
    {
      config: { scope: 'secret', plan: 'paid' },
      schema: {
        tags: ['Referrals'],
        operationId: 'purchases.reevaluate',
        summary: 'Evaluate a purchase again',
        description:
          'Of a purchase that earned nothing: by the terms, plan, rates and referrer of now. What a purchase has earned stays. Purchases with `no_currency_rate` are evaluated again when the rate is set.',
        params: InternalOrderIdParams,
        response: { 200: PurchaseAnswer },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const id = params.internal_order_id;
      const evaluated = await inTransaction(pool, async (tx) => {
        const evaluated = await reevaluatePurchase(tx, auth.workspace, id, new Date());
        await request.audit(tx, { targetId: null, details: { internal_order_id: id } });
        return evaluated;
      });
      return purchaseAnswer(evaluated);
    },
  );
}
