import { badRequest } from '../../core/errors.ts';
import { toCredits } from '../../core/referrals/credits.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { grantBalances, grantRecord, listGrants } from '../../sql/referrals/grants.ts';
import { markDelivered } from '../../sql/transactions/mark-delivered.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { Credits, CreditsQuery, Delivered, GrantParams } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Credits'];

/** Credit grants and their delivery. Secret key only: the ledger is nobody's to read in a browser. */
export async function creditRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/credits',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'credits.list',
        summary: 'List credit grants, newest first, with balances',
        description: '`partner_id` or `external_user_id` is required.',
        querystring: CreditsQuery,
        response: { 200: Credits },
      },
    },
    async ({ auth, query }) => {
      const filter = { partnerId: query.partner_id, externalUserId: query.external_user_id };
      if (filter.partnerId === undefined && filter.externalUserId === undefined) {
        throw badRequest('partner_id', 'send partner_id or external_user_id');
      }
      const { status, limit } = query;
      const [grants, balances] = await Promise.all([
        listGrants(pool, auth.workspace.id, { ...filter, status, limit }),
        grantBalances(pool, auth.workspace.id, filter),
      ]);
      return {
        grants: grants.map(grantRecord),
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
    async ({ auth, params }) => {
      const now = new Date();
      const isNew = await inTransaction(pool, (tx) => markDelivered(tx, auth.workspace.id, params.id, now));
      return isNew ? { ok: true as const } : { ok: true as const, already: true as const };
    },
  );
}
