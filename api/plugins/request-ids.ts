import { uuidv7 } from '../../core/ids.ts';
import type { Api } from '../dependencies.ts';

/** The id of a request: ours, never the caller's, so that it can't be forged in the logs. */
export const newRequestId = (): string => uuidv7();

/** Sends the request's id as `x-request-id` with every answer, errors too. */
export function addRequestIds(app: Api): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
}
