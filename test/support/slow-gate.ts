import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What a gate does to the bytes that clients send to the server. What the server answers is never slowed. */
export type Slowness = {
  /** What a client sends waits so long, each time. */
  delayMs?: number;
  /** All connections together, from now on. */
  bytesPerSecond?: number;
};

export type SlowGate = {
  /** The server's address with the gate's host and port. */
  url: string;
  /** Makes it so slow, or, with null, lets everything through at once, also what waits. */
  slow(how: Slowness | null): void;
  /**
   * Answers that do not come through from now on; clients that end meanwhile never see theirs. `inserts`: of ClickHouse's
   * to inserts alone, for a worker first asks what its predecessor has stored.
   */
  holdAnswers(which: 'all' | 'inserts' | 'none'): void;
  /** Bytes on their way to the server that it has not got yet. */
  waiting(): number;
  /** Bytes of answers that are held, of clients that are still there. */
  held(): number;
  close(): Promise<void>;
};

const PIECE_BYTES = 4 * 1024;
/** How a request of ClickHouse's client begins that inserts: its statement is in the address. */
const INSERT = /^POST \S*[?&]query=INSERT/;
const ANY_REQUEST = /^(POST|GET) /;
/** Enough of a request to see its statement. */
const BEGINNING_BYTES = 8 * 1024;

/** A way to a real server that a test can make slow. */
export async function createSlowGate(serverUrl: string): Promise<SlowGate> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const answers = new Set<{ flush(): void; bytes: number }>();
  let how: Slowness = {};
  let changed = new AbortController();
  let holding: 'all' | 'inserts' | 'none' = 'none';
  let waiting = 0;
  /** When the bytes that were let through so far have used up their bandwidth. */
  let busyUntil = 0;

  async function pass(bytes: number, first: boolean): Promise<void> {
    const { delayMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = how;
    const now = performance.now();
    busyUntil = Math.max(busyUntil, now) + (bytes / bytesPerSecond) * 1_000;
    const wait = Math.max(first ? delayMs : 0, busyUntil - now);
    // A change lets go of what waits: it is either for being quick again or for the next piece.
    if (wait > 0) await delay(wait, undefined, { signal: changed.signal }).catch(() => undefined);
  }

  async function upload(client: Socket, upstream: Socket, state: { inserts: boolean }): Promise<void> {
    for await (const chunk of client) {
      const whole = chunk as Buffer;
      const beginning = whole.toString('latin1', 0, BEGINNING_BYTES);
      if (ANY_REQUEST.test(beginning)) state.inserts = INSERT.test(beginning);
      for (let at = 0; at < whole.length; at += PIECE_BYTES) {
        const piece = whole.subarray(at, at + PIECE_BYTES);
        waiting += piece.length;
        try {
          await pass(piece.length, at === 0);
        } finally {
          waiting -= piece.length;
        }
        if (client.destroyed || upstream.destroyed) return;
        if (!upstream.write(piece)) await once(upstream, 'drain');
      }
    }
    upstream.end();
  }

  function answer(client: Socket, upstream: Socket) {
    let held: Buffer[] = [];
    const state = {
      bytes: 0,
      /** Whether the request that is under way inserts. */
      inserts: false,
      flush() {
        for (const chunk of held) client.write(chunk);
        held = [];
        state.bytes = 0;
      },
    };
    answers.add(state);
    client.on('close', () => answers.delete(state));
    upstream.on('data', (chunk: Buffer) => {
      if (holding === 'none' || (holding === 'inserts' && !state.inserts)) {
        client.write(chunk);
        return;
      }
      held.push(chunk);
      state.bytes += chunk.length;
    });
    upstream.on('end', () => {
      if (state.bytes === 0) client.end();
    });
    return state;
  }

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    void upload(client, upstream, answer(client, upstream)).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);

  return {
    url: url.toString(),
    slow(next) {
      how = next ?? {};
      busyUntil = 0;
      changed.abort();
      changed = new AbortController();
    },
    holdAnswers(which) {
      holding = which;
      if (which === 'none') for (const held of answers) held.flush();
    },
    waiting: () => waiting,
    held: () => [...answers].reduce((sum, { bytes }) => sum + bytes, 0),
    async close() {
      changed.abort();
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
