import { Type } from 'typebox';
import { toMajor } from '../../core/money/money.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { programById } from '../../sql/referrals/programs.ts';
import { exportPayouts, payExport } from '../../sql/transactions/pay-out.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { noSuchProgram } from '../programs/service.ts';
import { Body } from '../schemas.ts';
import { payoutCsv } from './csv.ts';
import { payoutListRoutes } from './list-routes.ts';
import { Totals } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Payouts'];

const EXPORT_ANSWER = {
  description: 'CSV; the header `x-export-id` names it.',
  content: { 'text/csv': { schema: { type: 'string' } } },
};

/** Files of what affiliates are to be paid, and that they were. Secret key. */
export async function payoutRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  await payoutListRoutes(app, deps);

  app.get(
    '/payouts/export',
    {
      config: {
        ...CONFIG,
        // It reads like one, but writes a file down, and the file has addresses in clear.
        role: 'operator',
        errors: ['not_found'],
        answers: { 200: EXPORT_ANSWER },
      },
      // A HEAD changes nothing, and this would write a file down.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'exportPayouts',
        summary: 'A file of what is to be paid now',
        description:
          'CSV, one line per referrer whose eligible balance reaches `min_payout`, sorted by payout method (empty where none was saved). Suspended referrers are left out; their balance stays. Pay it, then send the `x-export-id` header to `POST /payouts`. Making a file changes no balance.',
        querystring: Type.Object({
          program_id: Type.Optional(
            Type.String({ format: 'uuid', description: 'Every programme of the workspace unless given.' }),
          ),
        }),
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
        operationId: 'markPaid',
        summary: 'Mark a payout file paid',
        description:
          'Marks exactly what the file lists, once; a second call answers the same. A file that overlaps with one that was paid is a 409.',
        body: Body({ export_id: Type.String({ format: 'uuid' }) }),
        response: {
          200: Type.Object({
            paid: Type.Integer({ description: 'Referrers paid.' }),
            totals: Totals,
          }),
        },
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
