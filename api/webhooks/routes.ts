import { createHostResolver } from '../../core/webhooks/resolve-host.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { listDeliveries } from '../../sql/webhooks/deliveries.ts';
import { deleteWebhook, listWebhooks, webhookById } from '../../sql/webhooks/webhooks.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { secretOnce, withIdempotency, withPreparedIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { parseReceiverUrl, requireReachable } from './receiver-url.ts';
import {
  Delivery,
  DeliveryList,
  DeliveryParams,
  DeliveryQuery,
  DeliveryWithRequest,
  WebhookBody,
  WebhookChange,
  WebhookList,
  WebhookQuery,
  WebhookRecord,
  WebhookShown,
  WebhookWithSecret,
} from './schemas.ts';
import {
  changeWebhook,
  checkWebhook,
  createWebhook,
  deliveryWithRequest,
  MOST_WEBHOOKS,
  noSuchWebhook,
  redeliverNow,
  rotate,
  sendTest,
  withLastDelivery,
} from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Webhooks'];

/** Registers the routes of webhooks and their delivery log. Secret key, paid plan. The workers deliver. */
export async function webhookRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const rules = {
    resolve: deps.resolveHost ?? createHostResolver(),
    allowPrivate: config.webhookAllowPrivate,
  };

  app.get(
    '/webhooks',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'webhooks.list',
        summary: 'List webhooks, newest first',
        querystring: WebhookQuery,
        response: { 200: WebhookList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await listWebhooks(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return {
        webhooks: await withLastDelivery(pool, auth.workspace.id, page.rows),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.post(
    '/webhooks',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict'],
        checkRest: (body: WebhookChange, faulty) => checkWebhook(body, faulty),
      },
      schema: {
        tags,
        operationId: 'webhooks.create',
        summary: 'Create a webhook',
        description: `It receives events from now on. The secret is shown only here and when it is rotated; it is not stored for a replay, which has no \`secret\`. A workspace has at most ${MOST_WEBHOOKS} webhooks, and one for each URL and set of events; else 409.`,
        body: WebhookBody,
        response: { 201: WebhookWithSecret },
      },
    },
    async (request, reply) => {
      // A replay is not checked again: its host may have a new address.
      const prepare = async () => requireReachable(parseReceiverUrl(request.body.url), rules);
      return withPreparedIdempotency(pool, request, reply, prepare, async (tx) => {
        const made = await createWebhook(tx, request.auth.workspace.id, request.body);
        await request.audit(tx, { targetId: made.id });
        return secretOnce(201, made);
      });
    },
  );

  app.get(
    '/webhooks/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'webhooks.get',
        summary: 'Get a webhook',
        params: IdParams,
        response: { 200: WebhookShown },
      },
    },
    async ({ auth, params }) => {
      const webhook = await webhookById(pool, auth.workspace.id, params.id);
      const [shown] = await withLastDelivery(pool, auth.workspace.id, webhook ? [webhook] : []);
      if (!shown) throw noSuchWebhook();
      return shown;
    },
  );

  app.patch(
    '/webhooks/:id',
    {
      config: {
        ...CONFIG,
        errors: ['conflict'],
        checkRest: (body: WebhookChange, faulty) => checkWebhook(body, faulty),
      },
      schema: {
        tags,
        operationId: 'webhooks.update',
        summary: 'Update a webhook',
        description:
          'Send any subset of the fields. Pending deliveries go to the new URL. `is_active: true` reactivates a webhook that was disabled after failures.',
        params: IdParams,
        body: WebhookChange,
        response: { 200: WebhookRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      if (body.url !== undefined) {
        // Validation errors come before 404, and save a DNS lookup.
        const url = parseReceiverUrl(body.url);
        if (!(await webhookById(pool, auth.workspace.id, params.id))) throw noSuchWebhook();
        await requireReachable(url, rules);
      }
      const changed = await inTransaction(pool, async (tx) => {
        const row = await changeWebhook(tx, auth.workspace.id, params.id, body);
        await request.audit(tx);
        return row;
      });
      return changed as WebhookRecord;
    },
  );

  app.delete(
    '/webhooks/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'webhooks.delete',
        summary: 'Delete a webhook',
        description: 'Its deliveries are deleted too.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteWebhook(tx, request.auth.workspace.id, request.params.id))) throw noSuchWebhook();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  app.post(
    '/webhooks/:id/test',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'webhooks.test',
        summary: 'Send a test event',
        description:
          'Queues a `webhook.test` event and responds with its delivery, which is attempted within a second. Read the outcome in the delivery log. An inactive webhook is a 409.',
        params: IdParams,
        response: { 201: Delivery },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => ({
        status: 201,
        body: await sendTest(tx, request.auth.workspace.id, request.params.id),
      })),
  );

  app.post(
    '/webhooks/:id/rotate-secret',
    {
      config: { ...CONFIG, idempotent: true },
      schema: {
        tags,
        operationId: 'webhooks.rotateSecret',
        summary: 'Rotate the signing secret',
        description:
          'For 24 hours, deliveries carry the signatures of both secrets, so the receiver can switch at any time in between.',
        params: IdParams,
        response: { 200: WebhookWithSecret },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const rotated = await rotate(tx, request.auth.workspace.id, request.params.id);
        await request.audit(tx);
        return secretOnce(200, rotated);
      }),
  );

  app.get(
    '/webhooks/:id/deliveries',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'webhooks.listDeliveries',
        summary: 'List deliveries, newest first',
        description:
          'Finished deliveries are stored for 30 days. Of `click.created`, only failures and the newest deliveries are stored.',
        params: IdParams,
        querystring: DeliveryQuery,
        response: { 200: DeliveryList },
      },
    },
    async ({ auth, params, query: { limit, cursor, status, type } }) => {
      const before = readCursor(cursor);
      if (!(await webhookById(pool, auth.workspace.id, params.id))) throw noSuchWebhook();
      const rows = await listDeliveries(pool, auth.workspace.id, params.id, {
        before,
        status: status ?? null,
        type: type ?? null,
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return { deliveries: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/webhooks/:id/deliveries/:delivery_id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'webhooks.getDelivery',
        summary: 'Get a delivery with its request and response',
        description: 'The signing secret is not included.',
        params: DeliveryParams,
        response: { 200: DeliveryWithRequest },
      },
    },
    async ({ auth, params }) => deliveryWithRequest(pool, auth.workspace.id, params.id, params.delivery_id),
  );

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/redeliver',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'webhooks.redeliver',
        summary: 'Deliver an event again',
        description:
          'Sends the same event with the same `webhook-id` now. The retry schedule of a finished delivery starts over. An inactive webhook is a 409.',
        params: DeliveryParams,
        response: { 200: Delivery },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params } = request;
        const delivery = await redeliverNow(tx, auth.workspace.id, params.id, params.delivery_id);
        await request.audit(tx, { details: { delivery_id: params.delivery_id } });
        return delivery;
      }),
  );
}
