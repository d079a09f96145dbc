import { badRequest } from '../../../core/errors.ts';
import { toCredits } from '../../../core/referrals/credits.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { grantBalances, grantRecord, listGrants } from '../../../sql/referrals/grants.ts';
import { markDelivered } from '../../../sql/transactions/mark-delivered.ts';
import { revokeCredit } from '../../../sql/transactions/revoke-credit.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { Credits, CreditsQuery, Delivered, GrantParams, RevokeCredit, Revoked } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Credits'];

/**
 * Registers the routes of credit grants and their delivery. Secret key only: browsers must not read the ledger.
 */
export async function creditRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/credits',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'credits.list',
        summary: 'List credit grants, newest first, with balances',
        description:
          '`partner_id` or `external_user_id` is required, unless `status` is `earned`: then it lists what is to be delivered to all users.',
        querystring: CreditsQuery,
        response: { 200: Credits },
      },
    },
    async ({ auth, query }) => {
      const filter = { partnerId: query.partner_id, externalUserId: query.external_user_id };
      const { status, limit, cursor } = query;
      const isOfAll = filter.partnerId === undefined && filter.externalUserId === undefined;
      if (isOfAll && status !== 'earned') {
        throw badRequest('partner_id', 'is required, or `external_user_id` or `status=earned` instead');
      }
      const [grants, balances] = await Promise.all([
        listGrants(pool, auth.workspace.id, { ...filter, status, limit: limit + 1, before: cursor ?? null }),
        grantBalances(pool, auth.workspace.id, filter),
      ]);
      const page = cutPageAt(grants, limit, ({ id }) => id);
      return {
        grants: page.rows.map(grantRecord),
        ...(isOfAll && { next_cursor: page.nextCursor }),
        balance: Object.fromEntries(
          balances.map(({ unit, earned, delivered }) => [
            unit,
            { earned: toCredits(earned), delivered: toCredits(delivered) },
          ]),
        ),
      };
    },
  );

  app.post(
    '/credits/:id/mark-delivered',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'credits.markDelivered',
        summary: 'Mark a credit grant delivered',
        description: 'A second call responds with `already: true`. A revoked grant is a 409.',
        params: GrantParams,
        response: { 200: Delivered },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const isNew = await inTransaction(pool, async (tx) => {
        const isNew = await markDelivered(tx, auth.workspace.id, params.id, new Date());
        if (isNew) await request.audit(tx, { targetId: null, details: { credit_id: params.id } });
        return isNew;
      });
      return isNew ? { ok: true as const } : { ok: true as const, already: true as const };
    },
  );

  app.post(
    '/credits/:id/revoke',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'credits.revoke',
        summary: 'Revoke a credit grant that is not delivered',
        description: 'A second call responds with `already: true`. A delivered grant is a 409.',
        params: GrantParams,
        body: RevokeCredit,
        response: { 200: Revoked },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const given = { id: params.id, reason: body.reason, now: new Date() };
      const isNew = await inTransaction(pool, async (tx) => {
        const isNew = await revokeCredit(tx, auth.workspace.id, given);
        if (isNew) await request.audit(tx, { targetId: null, details: { credit_id: params.id } });
        return isNew;
      });
      return isNew ? { ok: true as const } : { ok: true as const, already: true as const };
    },
  );
}
