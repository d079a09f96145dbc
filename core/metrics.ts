import { createServer } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { listenError } from './listen-error.ts';

/**
 * From one look at the event loop's lag to the next: each wakes the process up, a hundred times a second by default. What
 * `nodejs_eventloop_lag_p99_seconds` and the like say includes it (`perf_hooks.monitorEventLoopDelay`).
 */
const LAG_LOOK_MS = 50;

/** A metrics registry with the process's own figures (CPU, memory, event-loop lag) labelled by tier. */
export function createRegistry(tier: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ tier });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_LOOK_MS });
  return registry;
}

/**
 * Serves `GET /metrics` in the Prometheus text format on its own port. Resolves when it listens.
 *
 * @returns a function that closes the server
 * @throws {ConfigError} when it can't listen on `METRICS_PORT`
 */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
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
