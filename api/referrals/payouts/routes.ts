import { toMajor } from '../../../core/money/money.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { programById } from '../../../sql/referrals/programs.ts';
import { exportPayouts, payExport } from '../../../sql/transactions/pay-out.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { noSuchProgram } from '../programs/service.ts';

import { payoutCsv } from './csv.ts';
import { payoutListRoutes } from './list-routes.ts';
import { Paid, PaidBody, PayoutExportQuery } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Payouts'];

const EXPORT_ANSWER = {
  description: 'CSV. The `x-export-id` header is the id of the file.',
  content: { 'text/csv': { schema: { type: 'string' } } },
};

/** Registers the payout routes: export what affiliates are to be paid, and mark it paid. Secret key. */
export async function payoutRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  await payoutListRoutes(app, deps);

  app.get(
    '/payouts/export',
    {
      config: {
        ...CONFIG,
        // A GET that writes a payout file with unmasked addresses.
        role: 'operator',
        errors: ['not_found'],
        answers: { 200: EXPORT_ANSWER },
        responseHeaders: ['ExportId'],
      },
      // A HEAD must not write, and this would save a file.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'payouts.export',
        summary: 'Create a payout file',
        description:
          'CSV with one line for each referrer whose eligible balance reaches `min_payout`, sorted by payout method (empty if none is saved). Suspended referrers are left out and keep their balance. Pay the file, then send its `x-export-id` header to `POST /payouts`. Creating a file changes no balance.',
        querystring: PayoutExportQuery,
      },
    },
    async ({ auth, query }, reply) => {
      const { id: workspaceId } = auth.workspace;
      const { program_id: programId = null } = query;
      if (programId !== null && !(await programById(pool, workspaceId, programId))) throw noSuchProgram();
      const { exportId, lines } = await inTransaction(pool, (tx) =>
        exportPayouts(tx, workspaceId, programId, new Date()),
      );
      return reply
        .header('x-export-id', exportId)
        .header('content-disposition', `attachment; filename="payouts-${exportId}.csv"`)
        .type('text/csv; charset=utf-8')
        .send(payoutCsv(lines));
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
          'Marks exactly the commissions of the file, once; a second call responds with the same body. A file that overlaps with a paid file is a 409.',
        body: PaidBody,
        response: { 200: Paid },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { workspace } = request.auth;
        const { paid, totals } = await payExport(tx, workspace.id, request.body.export_id, new Date());
        const major = [...totals].map(([currency, minor]) => [currency, toMajor(minor, currency)]);
        return { status: 200, body: { paid, totals: Object.fromEntries(major) } };
      }),
  );
}
