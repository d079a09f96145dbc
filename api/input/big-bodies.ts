import type { Api, FastifyRequest } from '../dependencies.ts';
import { createWorkspaceQueue } from '../plugins/workspace-queue.ts';

/** Size from which a body waits for the other big bodies of its workspace. Bytes. */
const BIG = 65_536;
/** Big bodies of one workspace that are received and processed concurrently. */
const AT_A_TIME = 2;

/**
 * Receives at most two big bodies of a workspace at a time. The others wait in their connections, not in memory. A
 * request counts until its response is ready, so that one workspace can't fill the process with long work. Register it
 * after the key check.
 */
export function addBigBodies(app: Api): void {
  const queue = createWorkspaceQueue(AT_A_TIME);
  const places = new WeakMap<FastifyRequest, () => void>();

  app.addHook('preParsing', async (request, reply) => {
    if (!request.auth || !mayBeBig(request)) return;
    const done = Promise.withResolvers<void>();
    places.set(request, done.resolve);
    // A client that disconnects releases its slot, even while it waits.
    reply.raw.once('close', done.resolve);
    if (reply.raw.destroyed) done.resolve();
    await new Promise<void>((begin) => {
      void queue(request.auth.workspace.id, async () => {
        begin();
        await done.promise;
      });
    });
  });
  app.addHook('onSend', async (request) => places.get(request)?.());
}

function mayBeBig({ headers, routeOptions }: FastifyRequest): boolean {
  if ((routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY) <= BIG) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > BIG;
}
