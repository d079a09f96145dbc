import { shortUrlOf } from '../../core/links/short-urls.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { type ListedApplication, listApplications } from '../../sql/portal/applications.ts';
import { actorOf } from '../actor.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPageAt } from '../pages.ts';
import { IdParams } from '../schemas.ts';
import { approveApplication, lockUndecided, rejectApplication } from './decide.ts';
import { ApplicationList, ApplicationQuery, ApplicationRecord, ApprovalBody } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Applications'];

/** Registers the owner's side of applications to programs. Secret key, paid plan. */
export async function applicationRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const { shortUrl } = config;
  const places = { ...config, outbox: createOutbox(config.mail !== null) };

  app.get(
    '/applications',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'applications.list',
        summary: 'List applications to programs, newest first',
        description:
          'What people sent on the page `{app_url}/p/<code>` of a program. With `status=pending`, those to decide.',
        querystring: ApplicationQuery,
        response: { 200: ApplicationList },
      },
    },
    async ({ auth, query: { program_id, status, limit, cursor } }) => {
      const listed = await listApplications(pool, auth.workspace.id, {
        id: null,
        programId: program_id ?? null,
        status: status ?? null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(listed, limit, ({ id }) => id);
      return {
        applications: page.rows.map((row) => applicationRecord(row, shortUrl)),
        next_cursor: page.nextCursor,
      };
    },
  );

  async function decided(workspaceId: string, id: string): Promise<ApplicationRecord> {
    const [found] = await listApplications(pool, workspaceId, { ...ANY, id });
    if (!found) throw new Error(`application ${id} is gone`);
    return applicationRecord(found, shortUrl);
  }

  app.post(
    '/applications/:id/approve',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'applications.approve',
        summary: 'Approve an application',
        description:
          'The applicant becomes a referrer of the program, gets a mail with the link, and can sign in to the portal. Also an application that was rejected. An approved one is a 409.',
        params: IdParams,
        body: ApprovalBody,
        response: { 200: ApplicationRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const workspaceId = auth.workspace.id;
      const origin = { now: new Date(), by: actorOf(request) };
      await inTransaction(pool, async (tx) => {
        const { application, program } = await lockUndecided(tx, workspaceId, params.id, 'approve');
        const given = { program, externalUserId: body.external_user_id ?? null };
        await approveApplication(tx, application, given, origin, places);
        await request.audit(tx);
      });
      return decided(workspaceId, params.id);
    },
  );

  app.post(
    '/applications/:id/reject',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'applications.reject',
        summary: 'Reject an application',
        description:
          'The applicant gets a mail, and cannot apply again with the address. One that is decided is a 409.',
        params: IdParams,
        response: { 200: ApplicationRecord },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const workspaceId = auth.workspace.id;
      const origin = { now: new Date(), by: actorOf(request) };
      await inTransaction(pool, async (tx) => {
        const { application, program } = await lockUndecided(tx, workspaceId, params.id, 'reject');
        await rejectApplication(tx, application, program, origin, places);
        await request.audit(tx);
      });
      return decided(workspaceId, params.id);
    },
  );
}

const ANY = { programId: null, status: null, before: null, limit: 1 };

function applicationRecord({ address, ...rest }: ListedApplication, shortUrl: string): ApplicationRecord {
  return { ...rest, referral_link: address && shortUrlOf(shortUrl, address) };
}
