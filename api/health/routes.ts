import { assertAnswers } from '../../clickhouse/client.ts';
import { lossBody, type StoreStates, storeStates } from '../../core/tier/health.ts';
import { troubledReplicas } from '../../sql/event-log/replica-details.ts';
import type { Api, ApiDeps } from '../dependencies.ts';

/**
 * Returns whether the API can serve, and details for the operator: both databases by name, replicas of ClickHouse that
 * are not read or behind, and a loss of events.
 * `/track` requires that the event log's shipper has started. Without ClickHouse the API serves everything except reads
 * of clicks.
 */
export async function apiReadiness(
  deps: Pick<ApiDeps, 'pool' | 'readers'> & { eventLog: Pick<ApiDeps['eventLog'], 'ready' | 'loss'> },
  isStopping: boolean,
): Promise<{ ready: boolean; body: { status: string; stores: StoreStates } }> {
  const stores = await storeStates({
    postgres: deps.pool.query('SELECT 1'),
    clickhouse: deps.readers.read(assertAnswers),
  });
  const shipping = deps.eventLog.ready();
  const ready = stores.postgres === 'up' && shipping && !isStopping;
  const loss = deps.eventLog.loss();
  const replicas =
    ready && deps.readers.isReplicated ? await troubledReplicas(deps.pool).catch(() => []) : [];
  // One of several replicas makes no request fail: it is named, and the status stays.
  const isDegraded = loss !== null || stores.clickhouse === 'down';
  const status = isStopping ? 'stopping' : !ready ? 'unready' : isDegraded ? 'degraded' : 'ready';
  return {
    ready,
    body: {
      status,
      stores,
      ...(replicas.length > 0 && { replicas }),
      ...(!shipping && { shipper: 'not started' }),
      ...lossBody(loss),
    },
  };
}

/**
 * Registers `/health/live` (the process responds) and `/health/ready` (it can serve). A short outage makes it unready
 * and restarts nothing. Anyone may call them, so they return only a status.
 */
export async function healthRoutes(app: Api, deps: ApiDeps): Promise<void> {
  let isStopping = false;
  let running: ReturnType<typeof apiReadiness> | null = null;
  app.addHook('preClose', async () => {
    isStopping = true;
    running = null;
  });
  /** One check at a time for all callers: each takes a connection to both databases. */
  function readiness(): ReturnType<typeof apiReadiness> {
    if (running) return running;
    const own = apiReadiness(deps, isStopping).finally(() => {
      if (running === own) running = null;
    });
    running = own;
    return own;
  }
  app.get('/health/live', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const { ready, body } = await readiness();
    if (!ready) reply.header('retry-after', '1');
    return reply.status(ready ? 200 : 503).send({ status: body.status });
  });
}
