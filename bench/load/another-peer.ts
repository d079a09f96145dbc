import { connect } from 'node:net';

/** Sooner than a server closes an idle connection. */
const ASK_EACH_MS = 2_000;

/**
 * Keeps a connection open while something runs, from another address of this machine than a generator's: the server is then
 * not spoken to by one peer alone. It asks for its health now and then.
 *
 * @throws Error when the connection did not last
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
