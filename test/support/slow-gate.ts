import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How a gate slows the bytes that clients send to the server. It never slows the server's responses. */
export type Slowness = {
  /** Delay of each chunk that a client sends. */
  delayMs?: number;
  /** Bandwidth of all connections together, from now on. */
  bytesPerSecond?: number;
};

export type SlowGate = {
  /** The server's address with the gate's host and port. */
  url: string;
  /** Sets the slowness; null sends everything at once, including waiting bytes. */
  slow(how: Slowness | null): void;
  /**
   * Blocks responses from now on; a client that ends meanwhile never gets its response. `inserts`: blocks only
   * ClickHouse's responses to inserts, because a worker first queries what its predecessor has stored.
   */
  holdAnswers(which: 'all' | 'inserts' | 'none'): void;
  /** Bytes on their way to the server that it has not received yet. */
  waiting(): number;
  /** Bytes of blocked responses, of clients that are still connected. */
  held(): number;
  close(): Promise<void>;
};

const PIECE_BYTES = 4 * 1024;
/** Matches the start of an insert by ClickHouse's client: its statement is in the address. */
const INSERT = /^POST \S*[?&]query=INSERT/;
const ANY_REQUEST = /^(POST|GET) /;
/** Length of a request's beginning that contains its statement. */
const BEGINNING_BYTES = 8 * 1024;

/** Creates a proxy to a real server that a test can slow down. */
export async function createSlowGate(serverUrl: string): Promise<SlowGate> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const responses = new Set<{ flush(): void; bytes: number }>();
  let how: Slowness = {};
  let changed = new AbortController();
  let holding: 'all' | 'inserts' | 'none' = 'none';
  let waiting = 0;
  /** The time until which the bytes sent so far use up the bandwidth. */
  let busyUntil = 0;

  async function pass(bytes: number, first: boolean): Promise<void> {
    const { delayMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = how;
    const now = performance.now();
    busyUntil = Math.max(busyUntil, now) + (bytes / bytesPerSecond) * 1_000;
    const wait = Math.max(first ? delayMs : 0, busyUntil - now);
    // A change releases waiting bytes: the gate is either fast again, or slows the next chunk.
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

  function forwardResponses(client: Socket, upstream: Socket) {
    let held: Buffer[] = [];
    const state = {
      bytes: 0,
      /** Whether the current request inserts. */
      inserts: false,
      flush() {
        for (const chunk of held) client.write(chunk);
        held = [];
        state.bytes = 0;
      },
    };
    responses.add(state);
    client.on('close', () => responses.delete(state));
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
    void upload(client, upstream, forwardResponses(client, upstream)).catch(() => undefined);
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
      if (which === 'none') for (const held of responses) held.flush();
    },
    waiting: () => waiting,
    held: () => [...responses].reduce((sum, { bytes }) => sum + bytes, 0),
    async close() {
      changed.abort();
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
