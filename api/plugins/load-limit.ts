import { Gauge } from 'prom-client';
import { AppError } from '../../core/errors.ts';
import type { Api, ApiDeps } from '../dependencies.ts';

/** Requests of one process at a time. Beyond it a queue would only make every answer late. */
const MAX_IN_FLIGHT = 1_000;

/** Answers 503 at once instead of queueing without end. Health checks always pass. */
export function addLoadLimit(app: Api, { registry }: Pick<ApiDeps, 'registry'>): void {
  let inFlight = 0;
  const gauge = new Gauge({
    name: 'hoplog_api_requests_in_flight',
    help: 'Requests that are being answered now.',
    registers: [registry],
  });
  app.addHook('onRequest', async (request, reply) => {
    if (inFlight >= MAX_IN_FLIGHT && !request.url.startsWith('/health/')) {
      throw new AppError('unavailable', 'the API is at its limit, try again');
    }
    gauge.set(++inFlight);
    // `close` comes once for every answer, also when the caller hangs up before it is sent.
    reply.raw.once('close', () => {
      gauge.set(--inFlight);
    });
  });
}
