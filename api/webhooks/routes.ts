import { createHostResolver } from '../../core/webhooks/resolve-host.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { listDeliveries } from '../../sql/webhooks/deliveries.ts';
import { deleteWebhook, listWebhooks, webhookById } from '../../sql/webhooks/webhooks.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency, withPreparedIdempotency } from '../plugins/idempotency.ts';
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
  createWebhook,
  deliveryWithRequest,
  noSuchWebhook,
  redeliverNow,
  rotate,
  sendTest,
  withLastDelivery,
} from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Webhooks'];

/** Webhooks and the log of their deliveries. Secret key, paid plan. Delivering is the workers' part. */
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
        operationId: 'listWebhooks',
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
      config: { ...CONFIG, idempotent: true },
      schema: {
        tags,
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'It gets the events that happen from now on. The secret is shown here and at its rotation only.',
        body: WebhookBody,
        response: { 201: WebhookWithSecret },
      },
    },
    async (request, reply) => {
      // A replay is not judged anew: its host may have another address by now.
      const prepare = async () => requireReachable(parseReceiverUrl(request.body.url), rules);
      return withPreparedIdempotency(pool, request, reply, prepare, async (tx) => ({
        status: 201,
        body: await createWebhook(tx, request.auth.workspace.id, request.body),
      }));
    },
  );

  app.get(
    '/webhooks/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'getWebhook',
        summary: 'One webhook',
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
      config: CONFIG,
      schema: {
        tags,
        operationId: 'changeWebhook',
        summary: 'Change a webhook',
        description:
          'Any subset of the fields. What is still to be delivered goes to the new address. `is_active: true` switches a webhook on again that was disabled for failing.',
        params: IdParams,
        body: WebhookChange,
        response: { 200: WebhookRecord },
      },
    },
    async ({ auth, params, body }) => {
      if (body.url !== undefined) {
        // What is wrong by itself comes before what is not there, and no host is looked up for nothing.
        const url = parseReceiverUrl(body.url);
        if (!(await webhookById(pool, auth.workspace.id, params.id))) throw noSuchWebhook();
        await requireReachable(url, rules);
      }
      const changed = await inTransaction(pool, (tx) =>
        changeWebhook(tx, auth.workspace.id, params.id, body),
      );
      return changed as WebhookRecord;
    },
  );

  app.delete(
    '/webhooks/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'It gets nothing any more, and its deliveries go with it.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async ({ auth, params }) => {
      if (!(await inTransaction(pool, (tx) => deleteWebhook(tx, auth.workspace.id, params.id)))) {
        throw noSuchWebhook();
      }
      return { ok: true as const };
    },
  );

  app.post(
    '/webhooks/:id/test',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description:
          'Queues a `webhook.test` event and answers with its delivery, which is made within a second: look it up in the log. A webhook that is not active is a 409.',
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
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the signing secret',
        description:
          'For 24 hours deliveries carry the signatures of both secrets, so that the receiver can change over at any time in between.',
        params: IdParams,
        response: { 200: WebhookWithSecret },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => ({
        status: 200,
        body: await rotate(tx, request.auth.workspace.id, request.params.id),
      })),
  );

  app.get(
    '/webhooks/:id/deliveries',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'listWebhookDeliveries',
        summary: 'The log of deliveries, newest first',
        description:
          'Deliveries that are over are kept for 30 days. Of `click.created` only failures and the newest deliveries are kept.',
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
        operationId: 'getWebhookDelivery',
        summary: 'One delivery, with its request and its response',
        description: 'The signing secret is not part of it: a signature proves it without telling it.',
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
        operationId: 'redeliverWebhookDelivery',
        summary: 'Deliver again, now',
        description:
          'The same event under the same `webhook-id`. A delivery that is over begins its schedule anew. A webhook that is not active is a 409.',
        params: DeliveryParams,
        response: { 200: Delivery },
      },
    },
    async ({ auth, params }) =>
      inTransaction(pool, (tx) => redeliverNow(tx, auth.workspace.id, params.id, params.delivery_id)),
  );
}
