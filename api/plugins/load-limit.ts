import { Gauge } from 'prom-client';
import { AppError } from '../../core/errors.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';

/** How much one process takes on at a time. */
export type LoadLimits = {
  /** Requests that are worked on. Beyond it a queue would only make every answer late. */
  working: number;
  /** Bodies that callers with a key are sending: each is held until it is whole. */
  arriving: number;
  /** Answers that wait for their readers, each in memory. Beyond it whoever has waited longest is cut off. */
  unread: number;
};

const LIMITS: LoadLimits = { working: 1_000, arriving: 1_000, unread: 1_000 };

/**
 * Answers 503 at once instead of queueing without end. Health checks always pass.
 *
 * A request counts while something is done for it: from its headers on, with its key looked up, then from its whole
 * body to its ready answer. How fast a caller sends a body or reads an answer is the caller's to say, so waiting for
 * either holds no place, only memory, which has bounds of its own. Exports and live streams, which go on after their
 * answers have begun, have limits of their own too. Add it after whatever makes payloads smaller or larger (`onSend`),
 * which is work as well.
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
    // Whoever has hung up by now will not be seen to do so again.
    if (!reply.raw.destroyed) working.add(request);
  }

  app.addHook('onRequest', async (request, reply) => {
    begin(request, reply);
    // `close` comes once for every answer, also when the caller hangs up before it is sent.
    reply.raw.once('close', () => {
      working.delete(request);
      arriving.delete(request);
    });
  });

  app.addHook('preParsing', async (request, reply) => {
    if (!bringsBody(request)) return;
    working.delete(request);
    // What nobody is asked a key for takes no more than some KiB: see plugins/body.ts.
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
    if (reply.raw.destroyed || !isHeldWhole(payload)) return;
    unread.add(request);
    reply.raw.once('close', () => unread.delete(request));
    const [longest] = unread;
    if (unread.size <= limits.unread || !longest) return;
    unread.delete(longest);
    longest.raw.socket.destroy();
  });
}

const full = () => new AppError('unavailable', 'the API is at its limit, try again');

const bringsBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;

/** A stream is read as fast as it is taken. */
const isHeldWhole = (payload: unknown): boolean => typeof payload === 'string' || Buffer.isBuffer(payload);
