import { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '../dependencies.ts';

/**
 * Longer than nginx keeps an idle connection (`keepalive_timeout` in `deploy/nginx`), shorter than main.ts's
 * drain. Milliseconds.
 */
const IDLE_MS = 1_300;

/**
 * Drains connections when the API closes: it accepts no new ones, serves the open ones and ends each with its next
 * response. Idle ones get a moment: a proxy may be sending a POST, which it would not retry.
 */
export function addDraining(app: Api): void {
  let draining = false;
  app.addHook('preClose', async () => {
    draining = true;
    if (!app.server.listening) return;
    // The listener alone: `http.Server.close` would cut idle connections. Calls back when all are closed.
    const gone = new Promise((resolve) => Server.prototype.close.call(app.server, resolve));
    await Promise.race([gone, delay(IDLE_MS)]);
  });
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close');
  });
}
