import { inTransaction } from '../../../sql/database/pool.ts';
import { listPrograms, programById } from '../../../sql/referrals/programs.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { withIdempotency } from '../../plugins/idempotency.ts';
import { IdParams } from '../../schemas.ts';
import { ProgramBody, ProgramChange, ProgramList, ProgramRecord } from './schemas.ts';
import { changeProgram, createProgram, noSuchProgram, programRecord } from './service.ts';
import { checkNewProgram, checkProgram } from './settings.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Programs'];

/** Registers the routes of referral programs. Secret key, paid plan. */
export async function programRoutes(app: Api, { pool, config, blockedDomains }: ApiDeps): Promise<void> {
  const { shortUrl } = config;

  app.get(
    '/programs',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'programs.list',
        summary: 'List referral programs, newest first',
        response: { 200: ProgramList },
      },
    },
    async ({ auth }) => ({ programs: (await listPrograms(pool, auth.workspace.id)).map(programRecord) }),
  );

  app.post(
    '/programs',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict'],
        checkRest: (body: Partial<ProgramBody>, faulty, { auth }) =>
          checkNewProgram(body, faulty, { shortUrl, blockedDomains, currency: auth.workspace.currency }),
      },
      schema: {
        tags,
        operationId: 'programs.create',
        summary: 'Create a referral program',
        body: ProgramBody,
        response: { 201: ProgramRecord },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { workspace } = request.auth;
        const program = await createProgram(tx, workspace.id, request.body, {
          shortUrl,
          blockedDomains,
          now: new Date(),
        });
        await request.audit(tx, { targetId: program.id });
        return { status: 201, body: programRecord(program) };
      }),
  );

  app.get(
    '/programs/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'programs.get',
        summary: 'Get a referral program',
        params: IdParams,
        response: { 200: ProgramRecord },
      },
    },
    async ({ auth, params }) => {
      const program = await programById(pool, auth.workspace.id, params.id);
      if (!program) throw noSuchProgram();
      return programRecord(program);
    },
  );

  app.patch(
    '/programs/:id',
    {
      config: {
        ...CONFIG,
        errors: ['conflict'],
        checksAll: true,
        checkRest: (body: Partial<ProgramBody>) => checkProgram(body, { shortUrl, blockedDomains }),
      },
      schema: {
        tags,
        operationId: 'programs.update',
        summary: 'Update a referral program',
        description:
          'Send any subset of the fields. New terms apply to future events; earned rewards do not change. A replaced `code` stays reserved.',
        params: IdParams,
        body: ProgramChange,
        response: { 200: ProgramRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const rules = { shortUrl, blockedDomains, now: new Date() };
      const program = await app.workspaceQueue(auth.workspace.id, () =>
        inTransaction(pool, async (tx) => {
          const changed = await changeProgram(tx, auth.workspace.id, params.id, body, rules);
          await request.audit(tx);
          return changed;
        }),
      );
      return programRecord(program);
    },
  );
}
