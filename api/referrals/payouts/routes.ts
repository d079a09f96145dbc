import { inTransaction, type Queryable } from '../../../sql/database/pool.ts';
import { listExportLines } from '../../../sql/referrals/payout-list.ts';
import type { PayoutFile } from '../../../sql/transactions/export-payouts.ts';
import { failPayoutLine, retryPayoutLine } from '../../../sql/transactions/fail-payout-line.ts';
import { cancelExport, payExport } from '../../../sql/transactions/pay-payout.ts';
import { BYTE_ORDER_MARK, requireBomOfCsv } from '../../byte-order-mark.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams, Ok } from '../../schemas.ts';
import { createPayoutFile } from './create-file.ts';
import { lineRecord, payoutListRoutes } from './list-routes.ts';
import { FailBody, LineParams, Paid, PaidBody, PayoutExportQuery, PayoutLine } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Payouts'];

const EXPORT_ANSWER = {
  description:
    'CSV. The `x-export-id` header is the id of the payout, `x-ledger-head` the hash of the last ledger entry. `x-left-out`, `x-held-back`, and `x-rounded` say what is not in the file.',
  content: { 'text/csv': { schema: { type: 'string' } } },
};

/** Registers the payout routes: export affiliates' balances, mark them paid or failed, cancel a file. Secret key. */
export async function payoutRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  await payoutListRoutes(app, deps);

  app.get(
    '/payouts/export',
    {
      config: {
        ...CONFIG,
        // It writes a payout file with unmasked addresses.
        role: 'operator',
        writes: true,
        errors: ['not_found'],
        answers: { 200: EXPORT_ANSWER },
        responseHeaders: ['ExportId', 'LedgerHead', 'LeftOut', 'HeldBack', 'Rounded'],
      },
      // A HEAD must not write, and this would save a file.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'payouts.export',
        summary: 'Create a payout file',
        description:
          'CSV with one line for each referrer whose eligible balance reaches `min_payout`, sorted by payout method. `GET /payouts/eligible` lists who is left out, and why; they keep their balance. Pay the file, then send its `x-export-id` header to `POST /payouts`. Creating a file changes no balance and locks nothing. A later file of the same `format` and `program_id` leaves out what an open one pays, unless `include_open=true`: cancel one that you do not pay.',
        querystring: PayoutExportQuery,
      },
    },
    async (request, reply) => {
      const { auth, query } = request;
      const { id: workspaceId } = auth.workspace;
      requireBomOfCsv(query);
      const asked = {
        programId: query.program_id ?? null,
        until: query.until ?? null,
        format: query.format,
        method: query.method ?? null,
        includeOpen: query.include_open,
      };
      const { text, ...file } = await inTransaction(pool, async (tx) => {
        const made = await createPayoutFile(tx, workspaceId, asked, new Date());
        await request.audit(tx);
        return made;
      });
      return reply
        .headers(headersOf(file))
        .header('content-disposition', `attachment; filename="payouts-${file.id}.csv"`)
        .type('text/csv; charset=utf-8')
        .send(query.bom === '1' ? `${BYTE_ORDER_MARK}${text}` : text);
    },
  );

  app.post(
    '/payouts',
    {
      config: { ...CONFIG, idempotent: true, errors: ['not_found', 'conflict'] },
      schema: {
        tags,
        operationId: 'payouts.markPaid',
        summary: 'Mark a payout file paid',
        description:
          'Pays the open lines of the file, or those of `partner_ids`, once; a second call responds with the same body. A line pays those of its commissions that no other file has paid, and stays open where none is left. A canceled file, and a failed line in `partner_ids`, is a 409.',
        body: PaidBody,
        response: { 200: Paid },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { workspace } = request.auth;
        const { export_id: exportId, partner_ids: partnerIds = null } = request.body;
        const body = await payExport(tx, workspace.id, { exportId, partnerIds, now: new Date() });
        await request.audit(tx, { targetId: exportId });
        return { status: 200, body };
      }),
  );

  app.post(
    '/payouts/:id/lines/:partner_id/fail',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'payouts.failLine',
        summary: 'Mark a paid line failed',
        description:
          'For a payment that came back: reversing ledger entries make its commissions eligible again, for a new payout file. A second call changes nothing. A line that is not paid is a 409.',
        params: LineParams,
        body: FailBody,
        response: { 200: PayoutLine },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const { id: exportId, partner_id: partnerId } = params;
      const given = { exportId, partnerId, reason: body.reason, now: new Date() };
      return inTransaction(pool, async (tx) => {
        await failPayoutLine(tx, auth.workspace.id, given);
        await request.audit(tx);
        return lineOf(tx, auth.workspace.id, given);
      });
    },
  );

  app.post(
    '/payouts/:id/lines/:partner_id/retry',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'payouts.retryLine',
        summary: 'Retry a failed line',
        description:
          'Later payout files pay the referrer again, at the address where the payment came back. They do so without this call once the address has changed. A second call changes nothing. A line that has not failed is a 409.',
        params: LineParams,
        response: { 200: PayoutLine },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const given = { exportId: params.id, partnerId: params.partner_id, now: new Date() };
      return inTransaction(pool, async (tx) => {
        await retryPayoutLine(tx, auth.workspace.id, given);
        await request.audit(tx);
        return lineOf(tx, auth.workspace.id, given);
      });
    },
  );

  app.delete(
    '/payouts/:id',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'payouts.cancel',
        summary: 'Cancel a payout file',
        description:
          "Its open lines can't be paid by this file any more; balances do not change. A file with paid lines becomes `paid`, another one `canceled`. A file without open lines is a 409.",
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const given = { exportId: request.params.id, now: new Date() };
      await inTransaction(pool, async (tx) => {
        await cancelExport(tx, request.auth.workspace.id, given);
        await request.audit(tx);
      });
      return { ok: true as const };
    },
  );
}

/** Returns the line of a partner in a payout file as the API shows it. */
async function lineOf(
  tx: Queryable,
  workspaceId: string,
  { exportId, partnerId }: { exportId: string; partnerId: string },
): Promise<PayoutLine> {
  const lines = await listExportLines(tx, workspaceId, exportId, { after: null, limit: 1, partnerId });
  if (!lines?.[0]) throw new Error(`the line of partner ${partnerId} in payout ${exportId} is gone`);
  return lineRecord(lines[0]);
}

/** Returns the headers that describe a file. Lists are those of RFC 9651. */
function headersOf({ id, ledgerHead, leftOut, heldBack, rounded }: PayoutFile): Record<string, string> {
  return {
    'x-export-id': id,
    'x-ledger-head': ledgerHead.toString('hex'),
    ...(leftOut.size > 0 && {
      'x-left-out': [...leftOut].map(([file, count]) => `${count};export_id="${file}"`).join(', '),
    }),
    ...(heldBack.size > 0 && {
      'x-held-back': [...heldBack].map(([reason, count]) => `${reason}=${count}`).join(', '),
    }),
    ...(rounded > 0 && { 'x-rounded': String(rounded) }),
  };
}
