import { assertAnswers } from '../../clickhouse/client.ts';
import { lossBody, storesUp } from '../../core/tier/health.ts';
import type { Api, ApiDeps } from '../dependencies.ts';

/**
 * Registers `/health/live`: the process responds, and `/health/ready`: its databases respond too, each by name,
 * and it is not stopping. `/track` requires that the event log's shipper has started. A short outage makes it
 * unready and restarts nothing.
 */
export async function healthRoutes(app: Api, deps: ApiDeps): Promise<void> {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.get('/health/live', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const { up, stores } = await storesUp({
      postgres: deps.pool.query('SELECT 1'),
      clickhouse: assertAnswers(deps.clickhouse),
    });
    const shipping = deps.eventLog.ready();
    const ready = up && shipping && !stopping;
    const loss = deps.eventLog.loss();
    if (!ready) reply.header('retry-after', '1');
    return reply.status(ready ? 200 : 503).send({
      status: stopping ? 'stopping' : !ready ? 'unready' : loss ? 'degraded' : 'ready',
      stores,
      ...(!shipping && { shipper: 'not started' }),
      ...lossBody(loss),
    });
  });
}
