import { AppError, badRequest } from '../../core/errors.ts';
import { readEach } from '../../core/faults.ts';
import { isUuid, uuidv7 } from '../../core/ids.ts';
import { EVENT_TYPES, type EventType } from '../../core/webhooks/event-types.ts';
import { newSecret } from '../../core/webhooks/signature.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createListener, type Listener, resumeListener } from '../../sql/webhooks/listeners.ts';
import { queueTestEvent } from '../../sql/webhooks/outbox.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps, FastifyRequest } from '../dependencies.ts';
import { isStillAdmitted } from '../plugins/auth.ts';
import { callerGone } from '../plugins/errors.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { exampleData } from './example-events.ts';
import { ListenQuery, TriggerBody, TriggeredEvent } from './listen-schemas.ts';
import { type ListenerStream, openListenerStream } from './listener-stream.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Webhooks'];

/** Listeners of a workspace at a time. Each gets a row for every event. */
export const MOST_LISTENERS = 5;

const ANSWER = {
  description:
    'Server-sent events. `event: ready` has `{ listener_id, secret, events }` as `data`. `event: event` has `{ id, type, headers, body }`: the signed request that a webhook would get. A comment is sent every 15 seconds.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** Registers `GET /webhooks/listen` and `POST /webhooks/trigger`, for the development of receivers. */
export async function listenRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  const streams = new Set<ListenerStream>();
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    for (const stream of streams) stream.end();
  });

  app.get(
    '/webhooks/listen',
    {
      config: { ...CONFIG, answers: { 200: ANSWER }, errors: ['conflict', 'not_found'] },
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'webhooks.listen',
        summary: 'Stream signed events to a program without an address',
        description: `For the development of receivers, as \`hoplog listen\` does. The stream begins with the next event. Reconnect with the last \`id\` within five minutes to get every event that happened meanwhile; after that it is a 404, and nothing is stored. The response ends when the server stops, and within 15 seconds after the key is revoked or the plan lapses. A workspace has at most ${MOST_LISTENERS} listeners; else 409.`,
        querystring: ListenQuery,
      },
    },
    async (request, reply) => {
      const position = positionOf(request, request.query.after);
      if (reply.raw.destroyed) throw callerGone();
      if (closing) throw new AppError('unavailable', 'the server stops; try again');
      const listener = await (position ? resume(request, position) : open(request));
      const stream = openListenerStream(deps, {
        listener,
        after: position?.after ?? '0',
        isStillAllowed: () => isStillAdmitted(deps, request),
      });
      streams.add(stream);
      const { socket } = request.raw;
      socket.once('end', stream.end);
      stream.body.once('close', () => {
        streams.delete(stream);
        socket.off('end', stream.end);
      });
      if (reply.raw.destroyed || socket.readableEnded || closing) stream.end();
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store, no-transform')
        .header('x-accel-buffering', 'no')
        .header('connection', 'close')
        .send(stream.body);
    },
  );

  async function open(
    request: FastifyRequest & { query: { events?: string | undefined } },
  ): Promise<Listener> {
    const { workspace } = request.auth;
    const events = eventsOf(request.query.events);
    const listener = await inTransaction(pool, async (tx) => {
      await lockWorkspace(tx, workspace.id);
      const made = await createListener(tx, workspace.id, {
        events,
        secret: newSecret(),
        most: MOST_LISTENERS,
      });
      if (made) await request.audit(tx, { targetId: made.id });
      return made;
    });
    if (listener) return listener;
    throw new AppError(
      'conflict',
      `a workspace has at most ${MOST_LISTENERS} listeners; one ends 5 minutes after it left`,
    );
  }

  async function resume({ auth }: FastifyRequest, { id, after }: Position): Promise<Listener> {
    const listener = await resumeListener(pool, auth.workspace.id, id, after);
    if (!listener) throw new AppError('not_found', 'the listener has ended; listen without `after`');
    return listener;
  }

  app.post(
    '/webhooks/trigger',
    {
      config: {
        ...CONFIG,
        idempotent: true,
        checkRest: ({ data }: { data?: Record<string, unknown> }) => checkIdentifiers(data ?? {}),
      },
      schema: {
        tags,
        operationId: 'webhooks.trigger',
        summary: 'Send an example of an event',
        description:
          'Sends an event of this type, with `test: true`, to every listener and webhook that gets the type. Filters and batches do not apply. `data` replaces fields of the example. Nothing else happens: no order, click, or link is made.',
        body: TriggerBody,
        response: { 201: TriggeredEvent },
      },
    },
    async (request, reply) =>
      withIdempotency(pool, request, reply, async (tx) => {
        const { type, data = {} } = request.body;
        checkIdentifiers(data);
        const event = {
          id: uuidv7(),
          type,
          created_at: new Date().toISOString(),
          test: true as const,
          data: { ...exampleData(type), ...data },
        };
        await queueTestEvent(tx, request.auth.workspace.id, event);
        return { status: 201, body: event };
      }),
  );
}

/** Fields of events that tables are searched by, which must therefore have the form of real ones. */
const UUIDS = { form: 'a UUID', names: ['visitor_id', 'link_id'], fits: isUuid };
const TEXTS = {
  form: 'a text of at most 255 characters',
  names: ['order_id', 'external_user_id'],
  fits: (text: string) => /^.{0,255}$/su.test(text),
};

/** @throws {AppError} `bad_request` that names every field whose value no event has */
function checkIdentifiers(data: Record<string, unknown>): void {
  readEach([UUIDS, TEXTS], ({ form, names, fits }) =>
    readEach(names, (name) => {
      const value = data[name] ?? null;
      if (value !== null && !(typeof value === 'string' && fits(value)))
        throw badRequest(`data.${name}`, `must be ${form} or null`);
    }),
  );
}

type Position = { id: string; after: string };

/** @throws {AppError} `bad_request` for a malformed position */
function positionOf({ headers }: FastifyRequest, after: string | undefined): Position | null {
  const header = headers['last-event-id'];
  const [path, text] =
    typeof header === 'string' && header !== '' ? ['Last-Event-ID', header] : ['after', after];
  if (text === undefined) return null;
  const [, id, number] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,18})$/.exec(text) ?? [];
  if (id === undefined || number === undefined)
    throw badRequest(path, 'must be the id of an event of the stream');
  return { id, after: number };
}

/** @throws {AppError} `bad_request` that names an unknown type */
function eventsOf(text: string | undefined): EventType[] {
  if (text === undefined) return EVENT_TYPES;
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.map((name) => {
    const type = EVENT_TYPES.find((one) => one === name);
    if (!type)
      throw badRequest('events', `must be types of events, separated by commas: ${EVENT_TYPES.join(', ')}`);
    return type;
  });
}
