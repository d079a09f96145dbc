import { Gauge } from 'prom-client';
import { AppError } from '../../core/errors.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';

/** Concurrency limits of one process. */
export type LoadLimits = {
  /** Requests being processed. A queue beyond it would only delay every response. */
  working: number;
  /** Bodies being received from authenticated clients, each held in memory. */
  arriving: number;
  /** Responses waiting for their readers, each in memory. Beyond it the oldest is cut off. */
  unread: number;
};

const LIMITS: LoadLimits = { working: 1_000, arriving: 1_000, unread: 1_000 };

/**
 * Responds 503 at once instead of queueing without a limit. Health checks always pass.
 *
 * A request counts while it is processed: from its headers through the key check, then from its complete body to
 * its ready response. The client decides how fast it sends a body or reads a response, so waiting for it counts
 * against the limits for memory only. Exports and live streams have limits of their own. Register it after the
 * hooks that transform payloads (`onSend`), whose work counts too.
 *
 * Not `@fastify/under-pressure` (9.2.0, MIT): it samples the load of the process once a second, so it neither bounds a
 * burst nor tells a request in progress from a slow body or an unread response.
 */
export function addLoadLimit(
  app: Api,
  { registry }: Pick<ApiDeps, 'registry'>,
  limits: LoadLimits = LIMITS,
): void {
  const working = new Set<FastifyRequest>();
  const arriving = new Set<FastifyRequest>();
  const unread = new Set<FastifyRequest>();
  new Gauge({
    name: 'hoplog_api_requests_in_flight',
    help: 'Requests in progress.',
    registers: [registry],
    collect() {
      this.set(working.size);
    },
  });

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    if (working.size >= limits.working && !request.url.startsWith('/health/')) throw full();
    // A client that has disconnected emits no second `close`.
    if (!reply.raw.destroyed) working.add(request);
  }

  app.addHook('onRequest', async (request, reply) => {
    begin(request, reply);
    // `close` fires once for every response, also when the client disconnects first.
    reply.raw.once('close', () => {
      working.delete(request);
      arriving.delete(request);
    });
  });

  app.addHook('preParsing', async (request, reply) => {
    if (!hasBody(request)) return;
    working.delete(request);
    // Bodies of public routes are limited to some KiB: see input/body.ts.
    if (request.routeOptions.config.scope === 'public') return;
    if (arriving.size >= limits.arriving) throw full();
    if (!reply.raw.destroyed) arriving.add(request);
  });

  app.addHook('preValidation', async (request, reply) => {
    arriving.delete(request);
    if (!working.has(request)) begin(request, reply);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    working.delete(request);
    arriving.delete(request);
    if (reply.raw.destroyed || !isBuffered(payload)) return;
    unread.add(request);
    reply.raw.once('close', () => unread.delete(request));
    const [longest] = unread;
    if (unread.size <= limits.unread || !longest) return;
    unread.delete(longest);
    longest.raw.socket.destroy();
  });
}

const full = () => new AppError('unavailable', 'the API is at its limit of concurrent requests; try again');

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;

/** Streams are not held in memory. */
const isBuffered = (payload: unknown): boolean => typeof payload === 'string' || Buffer.isBuffer(payload);
