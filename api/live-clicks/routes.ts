import type { FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { NANOS_PER_DAY, NANOS_PER_SECOND, nowNanos } from '../../core/time/timestamps.ts';
import { aheadOfClock } from '../ahead-of-clock.ts';
import { clickConditionsOf } from '../analytics/click-filters.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { isStillAdmitted } from '../plugins/auth.ts';
import { callerGone } from '../plugins/errors.ts';
import { createFeeds, oldestLive } from './feed.ts';
import { Position } from './position.ts';
import { LiveQuery } from './schemas.ts';
import { type LiveStream, openLiveStream } from './stream.ts';

/** Maximum open connections of a workspace and of the process. */
const MAX_OF_WORKSPACE = 20;
const MAX_OF_PROCESS = 200;
/** Delay before a caller beyond the limit of a workspace may retry. */
const RETRY_SECONDS = 15;
/** Tolerance: the id of a quiet connection may be a day old when it comes back. */
const SLACK = 3_600n * NANOS_PER_SECOND;

const ANSWER = {
  description:
    'Server-sent events. `event: click` has a `Click` as `data`; its `id` is the position in the stream. A comment is ' +
    'sent every 15 seconds. The first block has `retry` and an `id` without an event.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** Registers `GET /clicks/live`: clicks as they become visible. */
export async function liveClickRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const feeds = createFeeds(deps);
  const open = new Map<string, number>();
  const streams = new Set<LiveStream>();
  let all = 0;
  let closing = false;

  app.addHook('preClose', async () => {
    closing = true;
    for (const stream of streams) stream.end();
  });

  /** Takes a slot for a connection. @returns a function that releases it */
  function occupy(workspaceId: string): () => void {
    const of = open.get(workspaceId) ?? 0;
    const said = `${all} live streams are open, ${of} of them yours; try again later`;
    if (!closing && of >= MAX_OF_WORKSPACE) {
      throw new AppError('too_many_requests', said, undefined, { retryAfter: RETRY_SECONDS });
    }
    if (closing || all >= MAX_OF_PROCESS) throw new AppError('unavailable', said);
    open.set(workspaceId, of + 1);
    all += 1;
    return () => {
      const left = (open.get(workspaceId) ?? 1) - 1;
      if (left === 0) open.delete(workspaceId);
      else open.set(workspaceId, left);
      all -= 1;
    };
  }

  app.get(
    '/clicks/live',
    {
      config: { scope: 'secret', plan: 'paid', answers: { 200: ANSWER }, errors: ['too_many_requests'] },
      exposeHeadRoute: false,
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.stream',
        summary: 'Stream clicks as server-sent events',
        description:
          'Without `since`, the stream begins with the next click. Reconnect with the last `id` (browsers do so ' +
          'automatically) to get every click exactly once. Clicks come in the order in which they become visible, which ' +
          'is not the order of `ts` if several ingest processes run. The response ends after `seconds`, when the server ' +
          'stops, and when more than 1 MiB waits for a slow reader; the next connection resumes. It also ends within 15 ' +
          'seconds after the key is revoked, the session ends or the plan lapses. At most ' +
          `${MAX_OF_WORKSPACE} connections of a workspace (else 429) and ${MAX_OF_PROCESS} of an API process (else 503) are open at a time.`,
        querystring: LiveQuery,
      },
    },
    async (request, reply) => {
      const { query } = request;
      const after = await positionOf(deps, request, query.since);
      const filter = {
        linkIds: query.link_ids === undefined ? null : readIdList('link_ids', query.link_ids),
        bots: query.bots === 'include',
        orphans: query.orphans,
        conditions: await clickConditionsOf(deps, request.auth.workspace, query),
      };
      const workspaceId = request.auth.workspace.id;
      // A client that has disconnected emits no second `close`.
      if (reply.raw.destroyed) throw callerGone();
      reply.raw.once('close', occupy(workspaceId));
      const stream = await openLiveStream(deps, feeds, {
        workspaceId,
        filter,
        after,
        isStillAllowed: () => isStillAdmitted(deps, request),
      });
      const end = setTimeout(stream.end, query.seconds * 1_000);
      streams.add(stream);
      stream.body.once('close', () => {
        clearTimeout(end);
        streams.delete(stream);
      });
      // A client that stops listening closes its side first. The server would still send a response with an end.
      const { socket } = request.raw;
      socket.once('end', stream.end);
      stream.body.once('close', () => socket.off('end', stream.end));
      // The client disconnected during the queries, or the server began to stop.
      if (reply.raw.destroyed || socket.readableEnded || closing) stream.end();
      return (
        reply
          .type('text/event-stream; charset=utf-8')
          .header('cache-control', 'no-store, no-transform')
          .header('x-accel-buffering', 'no')
          // The next connection may go to another process; keep-alive would delay this one's exit.
          .header('connection', 'close')
          .send(stream.body)
      );
    },
  );
}

/** @throws {AppError} `bad_request` for a malformed position, or one that is more than a day away */
async function positionOf(
  { pool }: Pick<ApiDeps, 'pool'>,
  { headers }: FastifyRequest,
  since: string | undefined,
): Promise<Position | null> {
  const header = headers['last-event-id'];
  const [path, text] =
    typeof header === 'string' && header !== '' ? ['Last-Event-ID', header] : ['since', since];
  if (text === undefined) return null;
  const given = Position.parse(text);
  if (!given) throw badRequest(path, 'must be the id of an event or an ISO 8601 instant');
  const ahead = await aheadOfClock(pool, given.settled);
  const position = ahead === 0n ? given : given.earlier(ahead);
  const { settled } = position;
  if (settled < oldestLive() - SLACK || settled > nowNanos() + NANOS_PER_DAY) {
    throw badRequest(path, 'must be at most a day away; use GET /clicks for older clicks');
  }
  return position;
}
