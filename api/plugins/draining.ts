import type { Api } from '../dependencies.ts';

/**
 * Ends each connection with the answer that is under way on it when the API closes. Otherwise it would be kept for a
 * next request, and closing would wait for its keep-alive time.
 */
export function addDraining(app: Api): void {
  let draining = false;
  app.addHook('preClose', async () => {
    draining = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close');
  });
}
