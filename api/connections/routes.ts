import { connectionById, deleteConnection, listConnections } from '../../sql/connections/connections.ts';
import { eventById, listEvents, replayEvent, type ShownEvent } from '../../sql/connections/events.ts';
import { createConnectionSealer } from '../../sql/connections/sealer.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { cutPage, cutPageAt, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { receivingRoute } from './receiving.ts';
import {
  AssignBody,
  ConnectionBody,
  ConnectionChange,
  ConnectionEvent,
  ConnectionList,
  ConnectionQuery,
  ConnectionRecord,
  EventList,
  EventParams,
  EventQuery,
} from './schemas.ts';
import {
  assignPurchase,
  changeConnection,
  checkConnection,
  createConnection,
  MOST_CONNECTIONS,
  noSuchConnection,
  noSuchEvent,
  toRecord,
} from './service.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Connections'];

/** Registers the routes of connected billing providers. Secret key, paid plan. The workers process received events. */
export async function connectionRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const sealer = createConnectionSealer(pool);
  const shown = (connection: Parameters<typeof toRecord>[0]) => toRecord(connection, config.baseUrl);
  await receivingRoute(app, deps, sealer);

  app.get(
    '/connections',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'connections.list',
        summary: 'List connections, newest first',
        querystring: ConnectionQuery,
        response: { 200: ConnectionList },
      },
    },
    async ({ auth, query: { limit, cursor } }) => {
      const rows = await listConnections(pool, auth.workspace.id, {
        before: readCursor(cursor),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit);
      return { connections: page.rows.map(shown), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/connections',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'], checkRest: checkConnection },
      schema: {
        tags,
        operationId: 'connections.create',
        summary: 'Connect a billing provider',
        description: `Enter \`webhook_url\` at the provider with the events of \`event_types\`, then send the secret that it shows with \`PATCH /connections/{id}\`. A workspace has at most ${MOST_CONNECTIONS} connections; else 409.`,
        body: ConnectionBody,
        response: { 201: ConnectionRecord },
      },
    },
    async (request, reply) => {
      const { seal, open } = await sealer();
      return withIdempotency(pool, request, reply, async (tx) => {
        const made = await createConnection(tx, request.auth.workspace.id, request.body, { seal, open });
        await request.audit(tx, { targetId: made.id });
        return { status: 201, body: shown(made) };
      });
    },
  );

  app.get(
    '/connections/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'connections.get',
        summary: 'Get a connection',
        params: IdParams,
        response: { 200: ConnectionRecord },
      },
    },
    async ({ auth, params }) => {
      const connection = await connectionById(pool, auth.workspace.id, params.id);
      if (!connection) throw noSuchConnection();
      return shown(connection);
    },
  );

  app.patch(
    '/connections/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'connections.update',
        summary: 'Update a connection',
        description:
          'Send any subset of the fields; `null` removes a secret. A new secret applies from the next event.',
        params: IdParams,
        body: ConnectionChange,
        response: { 200: ConnectionRecord },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      const opened = await sealer();
      const changed = await inTransaction(pool, async (tx) => {
        const connection = await changeConnection(tx, auth.workspace.id, params.id, body, opened);
        await request.audit(tx);
        return connection;
      });
      return shown(changed);
    },
  );

  app.delete(
    '/connections/:id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'connections.delete',
        summary: 'Delete a connection',
        description:
          "Its secrets and events are deleted, and the provider's events are refused with 404. Recorded purchases stay.",
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteConnection(tx, request.auth.workspace.id, request.params.id)))
          throw noSuchConnection();
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  app.get(
    '/connections/:id/events',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'connections.listEvents',
        summary: 'List received events, newest first',
        description: 'With the outcome of each. Events are kept for 30 days.',
        params: IdParams,
        querystring: EventQuery,
        response: { 200: EventList },
      },
    },
    async ({ auth, params, query: { limit, cursor, status } }) => {
      if (!(await connectionById(pool, auth.workspace.id, params.id))) throw noSuchConnection();
      const rows = await listEvents(pool, params.id, {
        status: status ?? null,
        before: cursor ?? null,
        limit: limit + 1,
      });
      const page = cutPageAt(rows, limit, ({ internal_id }) => internal_id);
      return { events: page.rows.map(shownEvent), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/connections/:id/events/:event_id/replay',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'connections.replayEvent',
        summary: 'Process a received event again',
        description:
          'It is `pending` in the response, and processed within a second. What it has recorded stays as it is, so a replay is safe; an unmatched purchase is matched by what is known now.',
        params: EventParams,
        response: { 200: ConnectionEvent },
      },
    },
    async (request) => {
      const { auth, params } = request;
      return inTransaction(pool, async (tx) => {
        if (!(await connectionById(tx, auth.workspace.id, params.id))) throw noSuchConnection();
        await replayEvent(tx, params.id, params.event_id);
        const event = await eventById(tx, params.id, params.event_id);
        if (!event) throw noSuchEvent();
        await request.audit(tx, { details: { event_id: event.event_id } });
        return shownEvent(event);
      });
    },
  );

  app.post(
    '/connections/:id/events/:event_id/assign',
    {
      config: { ...CONFIG, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'connections.assignPurchase',
        summary: 'Assign the purchase of an event to a referrer',
        description:
          "For a purchase whose buyer has no referrer. The buyer is the referrer's from then on: the purchase is evaluated, and so are the buyer's later ones. 409 when the event tells of no recorded purchase, or the buyer has a referrer.",
        params: EventParams,
        body: AssignBody,
        response: { 200: ConnectionEvent },
      },
    },
    async (request) => {
      const { auth, params, body } = request;
      return inTransaction(pool, async (tx) => {
        const event = await assignPurchase(tx, auth.workspace, {
          connectionId: params.id,
          eventId: params.event_id,
          partnerId: body.partner_id,
        });
        await request.audit(tx, { details: { event_id: event.event_id } });
        return shownEvent(event);
      });
    },
  );
}

function shownEvent({ id, event_id, type, status, reason, order_id, received_at }: ShownEvent) {
  return { id, event_id, type, status, reason, order_id, received_at };
}
