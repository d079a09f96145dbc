import { connect } from 'node:net';

/** Shorter than the idle timeout of servers. */
const ASK_EACH_MS = 2_000;

/**
 * Keeps a connection open from a second address of this machine, so that the server has more than one peer. Requests
 * the health periodically.
 *
 * @throws Error when the connection closes early
 */
export async function withAnotherPeer<T>(port: number, run: () => Promise<T>): Promise<T> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  let broken: Error | null = null;
  socket.on('error', (error) => {
    broken = error;
  });
  socket.on('end', () => {
    broken = new Error('the server ended the other peer’s connection');
  });
  socket.resume();
  const ask = () => socket.write('GET /health/live HTTP/1.1\r\nHost: short.test\r\n\r\n');
  ask();
  const asking = setInterval(ask, ASK_EACH_MS);
  try {
    const result = await run();
    if (broken) throw broken;
    return result;
  } finally {
    clearInterval(asking);
    socket.destroy();
  }
}
