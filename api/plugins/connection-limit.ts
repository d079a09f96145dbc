import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';

/** Requests that one connection may have in flight. Browsers and proxies have one: they don't pipeline. */
const MOST_AT_A_TIME = 16;

/** What a connection has asked for and not got yet. */
type Connection = { open: Set<ServerResponse>; isEnding: boolean };

/**
 * Lets a connection have a few requests in flight: what it asks beyond is answered 503, with which it ends. Otherwise one
 * that never reads could ask for as much as fits into its packets.
 *
 * It also closes every answer of a connection that is gone. Node does that for the one that was being sent and forgets
 * those behind it, which would hold forever what their `close` gives back.
 */
export function addConnectionLimit(app: Api): void {
  const connections = new WeakMap<Socket, Connection>();

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known) return known;
    const connection: Connection = { open: new Set(), isEnding: false };
    connections.set(socket, connection);
    socket.once('close', () => {
      for (const answer of connection.open) closeAnswer(answer);
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
    if (connection.open.size <= MOST_AT_A_TIME) return;
    connection.isEnding = true;
    reply.header('connection', 'close');
    throw new AppError('unavailable', `a connection may have ${MOST_AT_A_TIME} requests in flight`);
  });
}

function closeAnswer(answer: ServerResponse): void {
  if (answer.destroyed) return;
  answer.destroy();
  answer.emit('close');
}
