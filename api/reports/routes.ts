import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import {
  deleteReport,
  listReports,
  type Recipient,
  reportById,
  requestReport,
} from '../../sql/reports/reports.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency, withPreparedIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { createAsker, readRecipients, recipientRules, withStates } from './recipients.ts';
import { ReportBody, ReportChange, ReportList, ReportQuery, ReportRecord } from './schemas.ts';
import {
  changeReport,
  checkReport,
  createReport,
  MOST_REPORTS,
  noSuchReport,
  readSettings,
  recordOf,
} from './service.ts';

/** The address of a chat is a secret, which analysts do not see. */
const CONFIG = { scope: 'secret', plan: 'paid', role: 'operator' } as const;
const tags = ['Reports'];

/** Registers the routes of reports that are sent on a schedule. Secret key, paid plan. The workers send. */
export async function reportRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  const asker = createAsker(deps);
  const rules = recipientRules(deps.config);
  const checkRest =
    (isNew: boolean) =>
    (body: ReportChange, faulty: ReadonlySet<string>, { auth }: FastifyRequest): void =>
      checkReport(body, faulty, { ...rules, isNew, workspace: auth.workspace });

  app.get(
    '/reports',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'reports.list',
        summary: 'List reports, newest first',
        querystring: ReportQuery,
        response: { 200: ReportList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const page = { before: readCursor(cursor), limit: limit + 1 };
      const { rows, nextCursor } = cutPage(await listReports(pool, auth.workspace.id, page), limit);
      return { reports: await withStates(pool, auth.workspace.id, rows), next_cursor: nextCursor };
    },
  );

  app.post(
    '/reports',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict', 'not_found'],
        checkRest: checkRest(true),
        partialLists: ['recipients'],
      },
      schema: {
        tags,
        operationId: 'reports.create',
        summary: 'Create a report',
        description: `Sends a view on a schedule: its figures with those of the period before, the top rows, a chart in mails, and a link to the view. A period is sent once; of periods that were missed, only the last one is. A workspace has at most ${MOST_REPORTS} reports; else 409.`,
        body: ReportBody,
        response: { 201: ReportRecord },
      },
    },
    async (request, reply) => {
      const { auth, body } = request;
      // A replay is not checked again: a chat's host may have a new address.
      const prepare = async () => {
        const settings = readSettings(null, body, auth.workspace, []);
        return { settings, recipients: await readRecipients(body.recipients, deps), ask: await asker(auth) };
      };
      return withPreparedIdempotency(pool, request, reply, prepare, async (tx, prepared) => {
        const { recipients, ask } = prepared;
        const made = await createReport(tx, auth.workspace.id, { ...prepared.settings, recipients });
        await ask(tx, made.name, recipients);
        await request.audit(tx, { targetId: made.id });
        return { status: 201, body: await recordOf(tx, auth.workspace.id, made) };
      });
    },
  );

  app.get(
    '/reports/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'reports.get',
        summary: 'Get a report',
        params: IdParams,
        response: { 200: ReportRecord },
      },
    },
    async ({ auth, params }) => {
      const report = await reportById(pool, auth.workspace.id, params.id);
      if (!report) throw noSuchReport();
      return recordOf(pool, auth.workspace.id, report);
    },
  );

  app.patch(
    '/reports/:id',
    {
      config: { ...CONFIG, checkRest: checkRest(false), partialLists: ['recipients'] },
      schema: {
        tags,
        operationId: 'reports.update',
        summary: 'Update a report',
        description: 'Send any subset of the fields. `is_active: false` pauses it.',
        params: IdParams,
        body: ReportChange,
        response: { 200: ReportRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const before = await reportById(pool, auth.workspace.id, params.id);
      if (!before) throw noSuchReport();
      const given: Recipient[] | null = body.recipients ? await readRecipients(body.recipients, deps) : null;
      const ask = await asker(auth);
      return inTransaction(pool, async (tx) => {
        const changed = await changeReport(tx, auth.workspace.id, params.id, (present) =>
          readSettings(present, body, auth.workspace, given ?? present.recipients),
        );
        if (given) await ask(tx, changed.name, given);
        await request.audit(tx);
        return recordOf(tx, auth.workspace.id, changed);
      });
    },
  );

  app.delete(
    '/reports/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'reports.delete',
        summary: 'Delete a report',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteReport(tx, request.auth.workspace.id, request.params.id))) throw noSuchReport();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  app.post(
    '/reports/:id/send-now',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'reports.sendNow',
        summary: 'Send a report now',
        description:
          'Sends the last whole period to all recipients within seconds, also of a paused report. The schedule continues as it is. Less than a minute after another one: 409.',
        params: IdParams,
        response: { 202: ReportRecord },
      },
    },
    async (request, reply) => {
      const { auth, params } = request;
      return withIdempotency(pool, request, reply, async (tx) => {
        const report = await reportById(tx, auth.workspace.id, params.id);
        if (!report) throw noSuchReport();
        if (!(await requestReport(tx, auth.workspace.id, params.id)))
          throw new AppError('conflict', 'the report was sent less than a minute ago');
        await request.audit(tx);
        return { status: 202, body: await recordOf(tx, auth.workspace.id, report) };
      });
    },
  );
}
