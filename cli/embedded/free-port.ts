import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the ports that Linux (from 32768) and others (from 49152) give to outgoing connections. */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 200;

/**
 * A TCP port that nobody listens on and that no outgoing connection will be given: such a connection would
 * otherwise take it between this answer and the listening. As long as this process lives nobody else is told the same one,
 * also while whoever listens there is away: the UDP port of that number says that it is taken.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  let refusal: unknown;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = randomInt(FIRST, LAST);
    refusal = (await claim(port)) ?? (await listenBriefly(host, port));
    if (refusal === null) return port;
  }
  throw new Error(`no free port on ${host}`, { cause: refusal });
}

/** @returns why it can't be claimed; null: it is, until this process ends */
function claim(port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', (error) => {
      socket.close();
      resolve(error);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      socket.unref();
      resolve(null);
    });
  });
}

function listenBriefly(host: string, port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
