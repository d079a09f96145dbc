import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux (from 32768) and other systems (from 49152). */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 200;

/**
 * Returns a free TCP port outside the ephemeral range, which an outgoing connection could take before the caller
 * listens. The UDP port of the same number reserves it: until this process exits, no other call returns it.
 *
 * @param count how many ports are free and reserved, from the returned one on
 */
export async function freePort(host = '127.0.0.1', count = 1): Promise<number> {
  let refusal: unknown;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const first = randomInt(FIRST, LAST - count);
    refusal = null;
    for (let port = first; port < first + count && refusal === null; port++)
      refusal = (await claim(port)) ?? (await listenBriefly(host, port));
    if (refusal === null) return first;
  }
  throw new Error(`no free port found on ${host}`, { cause: refusal });
}

/** Reserves a port until this process exits. Returns null, or the error when it is taken. */
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
