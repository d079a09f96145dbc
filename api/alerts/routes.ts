import type { FastifyRequest } from 'fastify';
import { alertById, deleteAlert, listAlertChanges, listAlerts } from '../../sql/alerts/alerts.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Recipient } from '../../sql/reports/reports.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, cutPageAt, readCursor } from '../pages.ts';
import { withPreparedIdempotency } from '../plugins/idempotency.ts';
import { createAsker, readRecipients, recipientRules, withStates } from '../reports/recipients.ts';
import { IdParams, Ok } from '../schemas.ts';
import {
  AlertBody,
  AlertHistory,
  AlertHistoryQuery,
  AlertList,
  AlertPatch,
  AlertQuery,
  AlertRecord,
} from './schemas.ts';
import {
  changeAlert,
  checkAlert,
  createAlert,
  MOST_ALERTS,
  noSuchAlert,
  readSettings,
  recordOf,
} from './service.ts';

/** The address of a chat is a secret, which analysts do not see. */
const CONFIG = { scope: 'secret', plan: 'paid', role: 'operator' } as const;
const tags = ['Alerts'];

/** Registers the routes of alerts on figures of views. Secret key, paid plan. The workers check. */
export async function alertRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  const asker = createAsker(deps);
  const rules = recipientRules(deps.config);
  const checkRest =
    (isNew: boolean) =>
    (body: AlertPatch, faulty: ReadonlySet<string>, { auth }: FastifyRequest): void =>
      checkAlert(body, faulty, { ...rules, isNew, workspace: auth.workspace });

  app.get(
    '/alerts',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'alerts.list',
        summary: 'List alerts, newest first',
        querystring: AlertQuery,
        response: { 200: AlertList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const page = { before: readCursor(cursor), limit: limit + 1 };
      const { rows, nextCursor } = cutPage(await listAlerts(pool, auth.workspace.id, page), limit);
      return { alerts: await withStates(pool, auth.workspace.id, rows), next_cursor: nextCursor };
    },
  );

  app.post(
    '/alerts',
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
        operationId: 'alerts.create',
        summary: 'Create an alert',
        description: `Watches a figure of a view. It is checked once an hour, when all clicks of the hour are there. Its start is told, and its end; after a start, no other one is told for \`quiet_hours\`. A workspace has at most ${MOST_ALERTS} alerts; else 409.`,
        body: AlertBody,
        response: { 201: AlertRecord },
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
        const made = await createAlert(tx, auth.workspace.id, { ...prepared.settings, recipients });
        await ask(tx, made.name, recipients);
        await request.audit(tx, { targetId: made.id });
        return { status: 201, body: await recordOf(tx, auth.workspace.id, made) };
      });
    },
  );

  app.get(
    '/alerts/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'alerts.get',
        summary: 'Get an alert',
        params: IdParams,
        response: { 200: AlertRecord },
      },
    },
    async ({ auth, params }) => {
      const alert = await alertById(pool, auth.workspace.id, params.id);
      if (!alert) throw noSuchAlert();
      return recordOf(pool, auth.workspace.id, alert);
    },
  );

  app.patch(
    '/alerts/:id',
    {
      config: { ...CONFIG, checkRest: checkRest(false), partialLists: ['recipients'] },
      schema: {
        tags,
        operationId: 'alerts.update',
        summary: 'Update an alert',
        description:
          'Send any subset of the fields. `is_active: false` pauses it. Another view or condition begins as `ok` again.',
        params: IdParams,
        body: AlertPatch,
        response: { 200: AlertRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const before = await alertById(pool, auth.workspace.id, params.id);
      if (!before) throw noSuchAlert();
      const given: Recipient[] | null = body.recipients ? await readRecipients(body.recipients, deps) : null;
      const ask = await asker(auth);
      return inTransaction(pool, async (tx) => {
        const changed = await changeAlert(tx, auth.workspace.id, params.id, (present) =>
          readSettings(present, body, auth.workspace, given ?? present.recipients),
        );
        if (given) await ask(tx, changed.name, given);
        await request.audit(tx);
        return recordOf(tx, auth.workspace.id, changed);
      });
    },
  );

  app.delete(
    '/alerts/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'alerts.delete',
        summary: 'Delete an alert',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteAlert(tx, request.auth.workspace.id, request.params.id))) throw noSuchAlert();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  app.get(
    '/alerts/:id/history',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'alerts.listHistory',
        summary: 'List starts and ends of an alert, newest first',
        description: 'Those of the last 400 days.',
        params: IdParams,
        querystring: AlertHistoryQuery,
        response: { 200: AlertHistory },
      },
    },
    async ({ auth, params, query: { limit, cursor = null } }) => {
      if (!(await alertById(pool, auth.workspace.id, params.id))) throw noSuchAlert();
      const page = { before: cursor, limit: limit + 1 };
      const found = await listAlertChanges(pool, auth.workspace.id, params.id, page);
      const { rows, nextCursor } = cutPageAt(found, limit, ({ id }) => id);
      return { history: rows, next_cursor: nextCursor };
    },
  );
}
