import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import type { SecretSealer } from '../../core/access/sealed-secret.ts';
import { type Envelope, EventProblem, SignatureProblem } from '../../core/connections/connector.ts';
import { connectorOf } from '../../core/connections/connectors.ts';
import { parseStorable, storableId } from '../../core/connections/exact-json.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { type Connection, connectionOfAny, noteRefusal } from '../../sql/connections/connections.ts';
import { insertEvent } from '../../sql/connections/events.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { createWorkspaceQueue } from '../plugins/workspace-queue.ts';
import { IdParams } from '../schemas.ts';
import { noSuchConnection } from './service.ts';

/** Bytes of an event. */
const EVENT_LIMIT = 5_242_880;
/** Concurrent events of one connection: the others wait in their connections, not in memory. */
const AT_A_TIME = 4;

/**
 * Registers the address that billing providers send their events to. It stores each event once, and responds when it is
 * stored. The workers process it.
 */
export async function receivingRoute(
  app: Api,
  deps: ApiDeps,
  sealer: () => Promise<SecretSealer>,
): Promise<void> {
  const { pool, registry } = deps;
  const received = new Counter({
    name: 'hoplog_connection_events_received_total',
    help: 'Events that billing providers sent, by provider and outcome: stored, repeated, or refused.',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
  });
  const queue = createWorkspaceQueue(AT_A_TIME);
  const connections = new WeakMap<FastifyRequest, Connection>();
  const places = new WeakMap<FastifyRequest, () => void>();

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The signature covers the bytes as sent.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body);
    scope.post<{ Params: { id: string } }>(
      '/connections/:id/webhook',
      {
        config: { scope: 'public' },
        bodyLimit: EVENT_LIMIT,
        schema: { hide: true, params: IdParams },
        // Runs before the body is read, so that only a connection that can receive it reads it.
        preParsing: async (request, reply) => {
          connections.set(request, await connectionFor(request.params.id));
          const done = Promise.withResolvers<void>();
          places.set(request, done.resolve);
          reply.raw.once('close', done.resolve);
          if (reply.raw.destroyed) done.resolve();
          await new Promise<void>((begin) => {
            void queue(request.params.id, async () => {
              begin();
              await done.promise;
            });
          });
        },
        onSend: async (request) => places.get(request)?.(),
      },
      async (request) => {
        const connection = connections.get(request);
        if (!connection) throw new Error('the connection was not read');
        const count = (outcome: string) => received.inc({ provider: connection.provider, outcome });
        try {
          const isNew = await store(connection, request);
          count(isNew ? 'stored' : 'repeated');
          return { received: true };
        } catch (error) {
          if (error instanceof AppError) count('refused');
          throw error;
        }
      },
    );
  });

  async function connectionFor(id: string): Promise<Connection> {
    // The schema is checked only after the body has been read.
    if (!isUuid(id)) throw badRequest('id', 'must be a UUID');
    const connection = await connectionOfAny(pool, id);
    if (!connection) throw noSuchConnection();
    if (connection.signing_secret === null) {
      received.inc({ provider: connection.provider, outcome: 'refused' });
      throw new AppError('unavailable', 'the signing secret of this connection is not set yet');
    }
    return connection;
  }

  /** @returns false when the event is stored already */
  async function store(connection: Connection, request: FastifyRequest): Promise<boolean> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { headers } = request;
    const connector = connectorOf(connection.provider);
    if (connection.signing_secret === null) throw new Error('the connection has no signing secret');
    const secret = (await sealer()).open(connection.signing_secret, connection.id);
    let envelope: Envelope;
    let text: string;
    try {
      await connector.verify({ body, headers }, secret, new Date());
      if (!isUtf8(body) || body.includes(0)) throw new EventProblem('the body must be JSON in UTF-8');
      text = body.toString('utf8');
      envelope = connector.envelope(parseStorable(text), headers);
    } catch (error) {
      if (error instanceof SignatureProblem) await noteRefusal(pool, connection.id);
      if (error instanceof SignatureProblem || error instanceof EventProblem)
        throw new AppError('bad_request', error.message);
      if (error instanceof SyntaxError) throw new AppError('bad_request', 'the body must be JSON');
      throw error;
    }
    const { eventId, type, customer } = envelope;
    return inTransaction(pool, (tx) =>
      insertEvent(tx, {
        workspaceId: connection.workspace_id,
        connectionId: connection.id,
        eventId: storableId(eventId),
        type: storableId(type),
        customerKey: customer === null ? null : storableId(customer),
        body: text,
      }),
    );
  }
}
