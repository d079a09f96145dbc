import type { FastifyRequest } from 'fastify';
import { NO_TRACING, type Span } from '../../core/tier/tracing.ts';
import type { Api, ApiDeps } from '../dependencies.ts';

/** Traces each request except health checks, as part of the caller's trace if it sends `traceparent`. */
export function addTracing(app: Api, { tracing = NO_TRACING }: Pick<ApiDeps, 'tracing'>): void {
  if (!tracing.isOn) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', async (request) => {
    const route = request.routeOptions.url ?? 'unknown';
    if (route.startsWith('/health')) return;
    const { traceparent } = request.headers;
    const span = tracing.start(`${request.method} ${route}`, {
      kind: 'server',
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'hoplog.request_id': request.id,
      },
      ...(typeof traceparent === 'string' && { parent: traceparent }),
    });
    spans.set(request, span);
  });
  app.addHook('onResponse', async (request, { statusCode }) => {
    const span = spans.get(request);
    span?.set({ 'http.response.status_code': statusCode });
    if (statusCode >= 500) span?.fail(`status ${statusCode}`);
    span?.end();
  });
}
