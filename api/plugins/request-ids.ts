import { uuidv7 } from '../../core/ids.ts';
import type { Api } from '../dependencies.ts';

/** Returns a new request id. It is never the client's, which could forge log entries. */
export const newRequestId = (): string => uuidv7();

/** Sends the request's id as `x-request-id` with every response, including errors. */
export function addRequestIds(app: Api): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
}
