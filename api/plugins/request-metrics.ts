import { Histogram } from 'prom-client';
import type { Api, ApiDeps } from '../dependencies.ts';

/** Measures every request by route pattern, so that ids in paths make no series of their own. */
export function addRequestMetrics(app: Api, { registry }: Pick<ApiDeps, 'registry'>): void {
  const seconds = new Histogram({
    name: 'hoplog_api_request_seconds',
    help: 'Time from the first byte of a request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    seconds.observe(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: String(reply.statusCode),
      },
      reply.elapsedTime / 1_000,
    );
  });
}
