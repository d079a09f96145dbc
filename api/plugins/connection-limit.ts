import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';

/** Requests in flight on one connection. Browsers and proxies don't pipeline and have one. */
const MAX_IN_FLIGHT = 16;

/** A connection's responses that are not finished. */
type Connection = { open: Set<ServerResponse>; isEnding: boolean };

/**
 * Limits the requests in flight of a connection. The request beyond gets a 503 and the connection ends. Without
 * the limit, a client that never reads could pipeline as many requests as fit into its packets.
 *
 * Also closes every response of a connection that has closed. Node closes only the one that was being sent; the
 * ones behind it would never release what their `close` releases.
 */
export function addConnectionLimit(app: Api): void {
  const connections = new WeakMap<Socket, Connection>();

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known) return known;
    const connection: Connection = { open: new Set(), isEnding: false };
    connections.set(socket, connection);
    socket.once('close', () => {
      for (const response of connection.open) closeResponse(response);
    });
    return connection;
  }

  app.addHook('onRequest', async (request, reply) => {
    const connection = connectionOf(request.raw.socket);
    if (connection.isEnding) {
      reply.hijack();
      return;
    }
    connection.open.add(reply.raw);
    reply.raw.once('close', () => connection.open.delete(reply.raw));
    if (connection.open.size <= MAX_IN_FLIGHT) return;
    connection.isEnding = true;
    reply.header('connection', 'close');
    throw new AppError('unavailable', `a connection may have at most ${MAX_IN_FLIGHT} requests in flight`);
  });
}

function closeResponse(response: ServerResponse): void {
  if (response.destroyed) return;
  response.destroy();
  response.emit('close');
}
