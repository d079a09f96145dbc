import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that Linux (from 32768) and others (from 49152) give to outgoing connections. */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 200;
/** Ports that this process was told lately: of several for one start none is bound when the next is looked for. */
const told = new Set<number>();
const TOLD = 2_000;

/**
 * A TCP port that nobody listens on and that no outgoing connection will be given: such a connection would
 * otherwise take it between this answer and the listening. One process is not told the same one twice, but two
 * processes at once may be: whoever binds it copes with losing that race.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  let refusal: unknown;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = randomInt(FIRST, LAST);
    if (told.has(port)) continue;
    refusal = await listenBriefly(host, port);
    if (refusal !== null) continue;
    if (told.size >= TOLD) told.clear();
    told.add(port);
    return port;
  }
  throw new Error(`no free port on ${host}`, { cause: refusal });
}

function listenBriefly(host: string, port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
