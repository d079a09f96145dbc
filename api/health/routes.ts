import type { Api, ApiDeps } from '../dependencies.ts';

/** Longest time a store gets to answer a readiness check. Milliseconds. */
const CHECK_LIMIT = 2_000;

/**
 * `/health/live`: the process answers. `/health/ready`: its stores answer too, each reported by name, and it is not
 * stopping. A store's blip makes it unready and restarts nothing.
 */
export async function healthRoutes(app: Api, deps: ApiDeps): Promise<void> {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.get('/health/live', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const [postgres, clickhouse] = await Promise.all([
      answers(deps.pool.query('SELECT 1')),
      answers(deps.clickhouse.ping().then((ping) => (ping.success ? undefined : Promise.reject(ping.error)))),
    ]);
    const ready = postgres && clickhouse && !stopping;
    if (!ready) reply.header('retry-after', '1');
    return reply.status(ready ? 200 : 503).send({
      status: stopping ? 'stopping' : ready ? 'ready' : 'unready',
      stores: { postgres: postgres ? 'up' : 'down', clickhouse: clickhouse ? 'up' : 'down' },
    });
  });
}

async function answers(check: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, CHECK_LIMIT, false);
  });
  const answered = check.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, limit]).finally(() => clearTimeout(timer));
}
