import { AppError } from '../../../core/errors.ts';
import { toMajor } from '../../../core/money/money.ts';
import {
  type EligibleBalance as Balance,
  listEligible,
  sumPayable,
} from '../../../sql/referrals/eligible-balances.ts';
import {
  type ExportLine,
  type ListedExport,
  listExportLines,
  listExports,
} from '../../../sql/referrals/payout-list.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPageAt } from '../../pages.ts';
import { IdParams } from '../../schemas.ts';
import { heldUntil, savedMethod } from '../payout-method.ts';
import {
  Eligible,
  type EligibleBalance,
  EligibleQuery,
  type PayoutFile,
  type PayoutLine,
  PayoutLines,
  PayoutLinesQuery,
  PayoutList,
  PayoutQuery,
  PayoutWithLines,
} from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Payouts'];
const ANY = { status: null, paid: null, before: null };

const noSuchPayout = (id: string) => new AppError('not_found', `the workspace has no payout ${id}`);

/** Registers the reading payout routes: eligible balances, and payout files. Secret key. */
export async function payoutListRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/payouts',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'payouts.list',
        summary: 'List payout files, newest first',
        description: 'With their status, their totals and when they were marked paid.',
        querystring: PayoutQuery,
        response: { 200: PayoutList },
      },
    },
    async ({ auth, query }) => {
      const files = await listExports(pool, auth.workspace.id, {
        id: null,
        status: query.status ?? null,
        paid: query.paid ?? null,
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const page = cutPageAt(files, query.limit, ({ id }) => id);
      return {
        payouts: page.rows.map(fileRecord),
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
        format: query.format,
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
        balances: page.rows.map((balance) => eligibleRecord(balance, asked.now)),
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
      if (!lines) throw noSuchPayout(params.id);
      const page = cutPageAt(lines, query.limit, ({ id }) => id);
      return {
        lines: page.rows.map(lineRecord),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.get(
    '/payouts/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'payouts.get',
        summary: 'Get a payout file with its lines',
        description: 'Lines are in the order of the file, in pages. The id is the `export_id`.',
        params: IdParams,
        querystring: PayoutLinesQuery,
        response: { 200: PayoutWithLines },
      },
    },
    async ({ auth, params, query }) => {
      const [file] = await listExports(pool, auth.workspace.id, { ...ANY, id: params.id, limit: 1 });
      const lines = await listExportLines(pool, auth.workspace.id, params.id, {
        after: query.cursor ?? null,
        limit: query.limit + 1,
      });
      if (!file || !lines) throw noSuchPayout(params.id);
      const page = cutPageAt(lines, query.limit, ({ id }) => id);
      return { ...fileRecord(file), lines: page.rows.map(lineRecord), next_cursor: page.nextCursor };
    },
  );
}

function fileRecord({ id, totals, ...file }: ListedExport): PayoutFile {
  return { ...file, id, export_id: id, totals: majorTotals(totals) };
}

/** Returns a line of a payout file as the API shows it, with its address masked. */
export function lineRecord(line: ExportLine): PayoutLine {
  const { currency, method, payout_email } = line;
  return {
    partner_id: line.enrollment_id,
    external_user_id: line.external_user_id,
    name: line.name,
    amount: toMajor(line.amount_minor, currency),
    currency,
    commissions: line.commissions,
    method,
    payout_method: savedMethod({ payout_method: method, payout_email }),
    status: line.status,
    paid_amount: line.paid_minor === null ? null : toMajor(line.paid_minor, currency),
    fail_reason: line.fail_reason,
    paid_at: line.paid_at,
    failed_at: line.failed_at,
    retried_at: line.retried_at,
  };
}

function eligibleRecord(balance: Balance, now: Date): EligibleBalance {
  const { currency } = balance;
  return {
    partner_id: balance.enrollment_id,
    program_id: balance.program_id,
    external_user_id: balance.external_user_id,
    name: balance.name,
    amount: toMajor(balance.amount_minor, currency),
    currency,
    commissions: balance.commissions,
    in_open_files: toMajor(balance.in_open_files_minor, currency),
    payout_held_until: heldUntil(balance, now),
    payout_method: savedMethod(balance),
    min_payout: toMajor(balance.min_payout_minor, currency),
    held_back: balance.held_back,
  };
}

function majorTotals(totals: readonly { currency: string; amount_minor: number }[]): Record<string, number> {
  return Object.fromEntries(
    totals.map(({ currency, amount_minor }) => [currency, toMajor(amount_minor, currency)]),
  );
}
