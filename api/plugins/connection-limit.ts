import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';

/** Requests in flight on one connection. Browsers and proxies don't pipeline and have one. */
const MAX_IN_FLIGHT = 16;
/** Requests that wait behind those, on all connections. Each is in memory. */
const MAX_WAITING = 5_000;

/** A connection's unfinished responses, and the requests that wait for them. */
type Connection = {
  open: Set<ServerResponse>;
  waiting: { response: ServerResponse; begin: () => void }[];
  isEnding: boolean;
};

/**
 * Limits the requests in flight of a connection. Further requests wait, and the server reads no more meanwhile. Without
 * the limit, a client that never reads could pipeline as many requests as fit into its packets. When too many wait on
 * all connections, the next gets a 503 and its connection ends.
 *
 * A client that closes its side after whole requests still gets their responses: Node drops them by default.
 *
 * Also closes every response of a connection that has closed. Node closes only the one that was being sent; the ones
 * behind it would never release what their `close` releases.
 */
export function addConnectionLimit(app: Api, { maxWaiting = MAX_WAITING } = {}): void {
  const connections = new WeakMap<Socket, Connection>();
  let waiting = 0;
  // Not in Node's documentation: `socketOnEnd` of its lib/_http_server.js.
  Object.assign(app.server, { httpAllowHalfOpen: true });

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known) return known;
    const connection: Connection = { open: new Set(), waiting: [], isEnding: false };
    connections.set(socket, connection);
    socket.once('close', () => {
      connection.isEnding = true;
      for (const response of connection.open) closeResponse(response);
      while (connection.waiting.length > 0) beginNext(socket, connection);
    });
    return connection;
  }

  function beginNext(socket: Socket, { open, waiting: line }: Connection): void {
    const next = line.shift();
    if (!next) return;
    waiting -= 1;
    open.add(next.response);
    next.begin();
    if (line.length > 0) stopReading(socket, line);
    else if (!socket.destroyed) socket.resume();
  }

  app.addHook('onRequest', async ({ raw: { socket } }, reply) => {
    const connection = connectionOf(socket);
    const response = reply.raw;
    if (connection.isEnding) {
      reply.hijack();
      return;
    }
    response.once('close', () => {
      if (connection.open.delete(response)) beginNext(socket, connection);
    });
    if (connection.open.size < MAX_IN_FLIGHT) {
      connection.open.add(response);
      return;
    }
    if (waiting >= maxWaiting) {
      connection.isEnding = true;
      reply.header('connection', 'close');
      throw new AppError(
        'unavailable',
        'too many pipelined requests are waiting; try again on another connection',
      );
    }
    waiting += 1;
    await new Promise<void>((begin) => {
      connection.waiting.push({ response, begin });
      stopReading(socket, connection.waiting);
    });
    if (!socket.destroyed) return;
    reply.hijack();
    closeResponse(response);
  });
}

/** Node continues to read after each whole request, so it is stopped after that. */
function stopReading(socket: Socket, line: readonly unknown[]): void {
  setImmediate(() => {
    if (line.length > 0) socket.pause();
  });
}

function closeResponse(response: ServerResponse): void {
  if (response.destroyed) return;
  response.destroy();
  response.emit('close');
}
