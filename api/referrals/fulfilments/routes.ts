import { createHostResolver } from '../../../core/webhooks/resolve-host.ts';
import { inTransaction } from '../../../sql/database/pool.ts';
import { deleteFulfilment, fulfilmentById, listFulfilments } from '../../../sql/fulfilments/fulfilments.ts';
import { listGrantDeliveries } from '../../../sql/fulfilments/grant-deliveries.ts';
import { createFulfilmentSealer } from '../../../sql/fulfilments/sealer.ts';
import type { Api, ApiDeps } from '../../dependencies.ts';
import { cutPage, cutPageAt, readCursor } from '../../pages.ts';
import { secretOnce, withIdempotency, withPreparedIdempotency } from '../../plugins/idempotency.ts';
import { IdParams, Ok } from '../../schemas.ts';
import { parseReceiverUrl, requireReachable } from '../../webhooks/receiver-url.ts';
import {
  CreditDelivery,
  CreditDeliveryList,
  CreditDeliveryParams,
  CreditDeliveryQuery,
  FulfilmentBody,
  FulfilmentChange,
  FulfilmentList,
  FulfilmentQuery,
  FulfilmentRecord,
  FulfilmentWithSecret,
  type SettingsInput,
} from './schemas.ts';
import {
  changeFulfilment,
  checkFulfilment,
  checkSettings,
  checkValues,
  createFulfilment,
  noSuchFulfilment,
  retryNow,
  rotateFulfilmentSecret,
  withCounts,
} from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Fulfilments'];
const PATH = 'settings.url';

/** Registers the routes of fulfilments and their deliveries. Secret key, paid plan. The workers deliver. */
export async function fulfilmentRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const sealer = createFulfilmentSealer(pool);
  const rules = {
    resolve: deps.resolveHost ?? createHostResolver(),
    allowPrivate: config.webhookAllowPrivate,
  };

  app.get(
    '/fulfilments',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'fulfilments.list',
        summary: 'List fulfilments, newest first',
        querystring: FulfilmentQuery,
        response: { 200: FulfilmentList },
      },
    },
    async ({ auth, query: { limit, cursor, program_id } }) => {
      const before = readCursor(cursor);
      const filter = { programId: program_id ?? null, before, limit: limit + 1 };
      const page = cutPage(await listFulfilments(pool, auth.workspace.id, filter), limit);
      return {
        fulfilments: await withCounts(pool, auth.workspace.id, page.rows),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.post(
    '/fulfilments',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        errors: ['conflict', 'not_found'],
        bodyWithin: 'settings',
        checkRest: checkFulfilment,
      },
      schema: {
        tags,
        operationId: 'fulfilments.create',
        summary: 'Deliver the credits of a program',
        description:
          'Each credit that the program earns from now on is delivered and then marked delivered. A program has one fulfilment; else 409. A `webhook` gets a `POST` of `{ id, type: "credit.deliver", created_at, data }` with the credit grant, signed as webhooks are; a 2xx means that the user has the credit. Its secret is shown only here and when it is rotated.',
        body: FulfilmentBody,
        response: { 201: FulfilmentWithSecret },
      },
    },
    async (request, reply) => {
      checkFulfilment(request.body);
      const { url } = request.body.settings;
      // A replay is not checked again: its host may have a new address.
      const prepare = async () => {
        if (url !== undefined) await requireReachable(parseReceiverUrl(url, PATH), rules, PATH);
        return sealer();
      };
      return withPreparedIdempotency(pool, request, reply, prepare, async (tx, opened) => {
        const made = await createFulfilment(tx, request.auth.workspace.id, request.body, opened);
        await request.audit(tx, { targetId: made.id });
        return secretOnce(201, made);
      });
    },
  );

  app.get(
    '/fulfilments/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'fulfilments.get',
        summary: 'Get a fulfilment',
        params: IdParams,
        response: { 200: FulfilmentRecord },
      },
    },
    async ({ auth, params }) => {
      const found = await fulfilmentById(pool, auth.workspace.id, params.id);
      const [shown] = found ? await withCounts(pool, auth.workspace.id, [found]) : [];
      if (!shown) throw noSuchFulfilment();
      return shown;
    },
  );

  app.patch(
    '/fulfilments/:id',
    {
      config: {
        ...CONFIG,
        bodyWithin: 'settings',
        checksAll: true,
        checkRest: ({ settings = {} }: { settings?: SettingsInput }) => checkValues(settings),
      },
      schema: {
        tags,
        operationId: 'fulfilments.update',
        summary: 'Change the settings of a fulfilment',
        description:
          'Send any subset of the settings. Pending deliveries use them from their next attempt on.',
        params: IdParams,
        body: FulfilmentChange,
        response: { 200: FulfilmentRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const { url } = body.settings;
      if (url !== undefined) {
        const known = await fulfilmentById(pool, auth.workspace.id, params.id);
        if (!known) throw noSuchFulfilment();
        checkSettings(known.provider, body.settings);
        await requireReachable(new URL(url), rules, PATH);
      }
      const opened = await sealer();
      return inTransaction(pool, async (tx) => {
        const changed = await changeFulfilment(tx, auth.workspace.id, params.id, body.settings, opened);
        await request.audit(tx);
        return changed;
      });
    },
  );

  app.delete(
    '/fulfilments/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'fulfilments.delete',
        summary: 'Delete a fulfilment',
        description:
          'Its pending deliveries fail, and their credits stay earned. A later fulfilment of the program takes them over with `include_earlier`.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteFulfilment(tx, request.auth.workspace.id, request.params.id)))
          throw noSuchFulfilment();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  app.post(
    '/fulfilments/:id/rotate-secret',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'fulfilments.rotateSecret',
        summary: 'Rotate the signing secret',
        description:
          'The former secret signs no call from now on. A call that the receiver refuses meanwhile is sent again. A `stripe_balance` has none: 409.',
        params: IdParams,
        response: { 200: FulfilmentWithSecret },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const rotated = await rotateFulfilmentSecret(tx, request.auth.workspace.id, request.params.id);
        await request.audit(tx);
        return secretOnce(200, rotated);
      }),
  );

  app.get(
    '/fulfilments/:id/deliveries',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'fulfilments.listDeliveries',
        summary: 'List deliveries of credits, newest credit first',
        params: IdParams,
        querystring: CreditDeliveryQuery,
        response: { 200: CreditDeliveryList },
      },
    },
    async ({ auth, params, query: { limit, cursor, status } }) => {
      if (!(await fulfilmentById(pool, auth.workspace.id, params.id))) throw noSuchFulfilment();
      const rows = await listGrantDeliveries(pool, auth.workspace.id, params.id, {
        status: status ?? null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(rows, limit, ({ credit_id }) => credit_id);
      return { deliveries: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/fulfilments/:id/deliveries/:delivery_id/retry',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'fulfilments.retryDelivery',
        summary: 'Deliver a credit now',
        description:
          'Makes a failed or pending delivery due at once, with the same id. The schedule of a failed one starts over. One that is delivered or canceled is a 409.',
        params: CreditDeliveryParams,
        response: { 200: CreditDelivery },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params } = request;
        const retried = await retryNow(tx, auth.workspace.id, params.id, params.delivery_id);
        await request.audit(tx, { targetId: params.id, details: { delivery_id: params.delivery_id } });
        return retried;
      }),
  );
}
