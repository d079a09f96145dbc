import { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '../dependencies.ts';

/** Longer than nginx keeps an idle connection (`keepalive_timeout` in `deploy/nginx`), less than main.ts's drain. */
const IDLE_MS = 1_300;

/**
 * When the API closes it takes no new connections, answers what still comes on open ones and ends each of them with
 * its answer. Idle ones are left a moment: a proxy may be sending on one right now, and would not send a POST again.
 */
export function addDraining(app: Api): void {
  let draining = false;
  app.addHook('preClose', async () => {
    draining = true;
    if (!app.server.listening) return;
    // The listener alone: `http.Server.close` cuts idle connections as well. Calls back when no connection is left.
    const gone = new Promise((resolve) => Server.prototype.close.call(app.server, resolve));
    await Promise.race([gone, delay(IDLE_MS)]);
  });
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close');
  });
}
