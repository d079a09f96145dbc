import { createServer, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { exposeInvariants } from '../invariants.ts';
import type { Readiness } from './health.ts';
import { listenError } from './listen-error.ts';

/**
 * Sampling interval of the event loop's lag. Each sample wakes the process, by default a hundred times a second. A
 * shorter stall may go unseen. Metrics such as `nodejs_eventloop_lag_p99_seconds` include the interval
 * (`perf_hooks.monitorEventLoopDelay`).
 */
const LAG_LOOK_MS = 250;

/**
 * Creates a registry with the metrics of the process (CPU, memory, event-loop lag, broken invariants), labeled by tier.
 */
export function createRegistry(tier: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ tier });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_LOOK_MS });
  exposeInvariants(registry);
  return registry;
}

/**
 * Serves `GET /metrics` in the Prometheus text format and `/health/live`, on a port of their own. Resolves when it
 * listens.
 *
 * @param readiness for `/health/ready`, with details for the operator
 * @param hasDomain for `/tls/allowed?domain=<host>`, which a proxy asks before it gets a certificate: 200 or 404
 * @returns a function that closes the server
 * @throws {ConfigError} when it can't listen on `METRICS_PORT`
 */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  readiness?: () => Promise<Readiness>,
  hasDomain?: (host: string) => boolean,
): Promise<() => Promise<void>> {
  type Handler = (response: ServerResponse, query: URLSearchParams) => Promise<void>;
  const handlers: Record<string, Handler> = {
    async '/metrics'(response) {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    },
    async '/health/live'(response) {
      sendJson(response, 200, { status: 'ok' });
    },
    ...(readiness && {
      async '/health/ready'(response: ServerResponse) {
        const { ready, body } = await readiness();
        sendJson(response, ready ? 200 : 503, body);
      },
    }),
    ...(hasDomain && {
      async '/tls/allowed'(response: ServerResponse, query: URLSearchParams) {
        const isAllowed = hasDomain(query.get('domain') ?? '');
        sendJson(response, isAllowed ? 200 : 404, { allowed: isAllowed });
      },
    }),
  };
  const server = createServer((request, response) => {
    const [path = '', query] = (request.url ?? '').split('?', 2);
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    if (!handler) {
      response.writeHead(404).end();
      return;
    }
    handler(response, new URLSearchParams(query)).catch((error: unknown) =>
      response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, { setting: 'METRICS_PORT', port, host })));
    server.listen(port, host, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
