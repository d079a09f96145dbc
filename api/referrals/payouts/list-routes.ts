import { AppError } from '../../../core/errors.ts';
import { toMajor } from '../../../core/money/money.ts';
import {
  type EligibleBalance as Balance,
  listEligible,
  sumPayable,
} from '../../../sql/referrals/eligible-balances.ts';
import { listExportLines, listExports } from '../../../sql/referrals/payout-list.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { IdParams } from '../../schemas.ts';
import { savedMethod } from '../payout-method.ts';
import {
  Eligible,
  type EligibleBalance,
  EligibleQuery,
  PayoutLines,
  PayoutLinesQuery,
  PayoutList,
  PayoutQuery,
} from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Payouts'];

/** Registers the reading payout routes: what can be paid, and what was. Secret key. */
export async function payoutListRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/payouts',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'payouts.list',
        summary: 'List payout files, newest first',
        description: 'With their totals and when they were marked paid.',
        querystring: PayoutQuery,
        response: { 200: PayoutList },
      },
    },
    async ({ auth, query }) => {
      const files = await listExports(pool, auth.workspace.id, {
        paid: query.paid ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(files, query.limit, ({ id }) => id);
      return {
        payouts: page.rows.map(({ id, totals, ...file }) => ({
          ...file,
          export_id: id,
          totals: majorTotals(totals),
        })),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.get(
    '/payouts/eligible',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'payouts.listEligible',
        summary: 'List balances that can be paid',
        description:
          'Every referrer with an eligible balance, latest enrollment first, and why a balance is held back. `referrers` and `totals` are those of a file created now. To create a file, use `GET /payouts/export`.',
        querystring: EligibleQuery,
        response: { 200: Eligible },
      },
    },
    async ({ auth, query }) => {
      const asked = {
        workspaceId: auth.workspace.id,
        programId: query.program_id ?? null,
        now: new Date(),
      };
      const [sums, rows] = await Promise.all([
        sumPayable(pool, asked),
        listEligible(pool, asked, { before: query.cursor ?? null, limit: query.limit + 1 }),
      ]);
      const page = cutPageAt(rows, query.limit, ({ enrollment_id }) => enrollment_id);
      return {
        referrers: sums.reduce((total, { referrers }) => total + referrers, 0),
        totals: majorTotals(sums),
        balances: page.rows.map(eligibleRecord),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.get(
    '/payouts/:id/lines',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'payouts.listLines',
        summary: 'List the lines of a payout file',
        description: 'In the order of the file.',
        params: IdParams,
        querystring: PayoutLinesQuery,
        response: { 200: PayoutLines },
      },
    },
    async ({ auth, params, query }) => {
      const lines = await listExportLines(pool, auth.workspace.id, params.id, {
        after: query.cursor ?? null,
        limit: query.limit + 1,
      });
      if (!lines) throw new AppError('not_found', `the workspace has no payout export ${params.id}`);
      const page = cutPageAt(lines, query.limit, ({ id }) => id);
      return {
        lines: page.rows.map(({ enrollment_id, amount_minor, ...line }) => ({
          ...line,
          partner_id: enrollment_id,
          amount: toMajor(amount_minor, line.currency),
        })),
        next_cursor: page.nextCursor,
      };
    },
  );
}

function eligibleRecord(balance: Balance & { payable: boolean }): EligibleBalance {
  const { currency } = balance;
  return {
    partner_id: balance.enrollment_id,
    program_id: balance.program_id,
    external_user_id: balance.external_user_id,
    name: balance.name,
    amount: toMajor(balance.amount_minor, currency),
    currency,
    commissions: balance.commissions,
    payout_method: savedMethod(balance),
    min_payout: toMajor(balance.min_payout_minor, currency),
    held_back: balance.payable ? null : heldBack(balance),
  };
}

function heldBack({ status, amount_minor }: Balance): EligibleBalance['held_back'] {
  if (status === 'suspended') return 'suspended';
  return amount_minor < 0 ? 'negative' : 'below_minimum';
}

function majorTotals(totals: readonly { currency: string; amount_minor: number }[]): Record<string, number> {
  return Object.fromEntries(
    totals.map(({ currency, amount_minor }) => [currency, toMajor(amount_minor, currency)]),
  );
}
