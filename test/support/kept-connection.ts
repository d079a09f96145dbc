import { once } from 'node:events';
import { connect } from 'node:net';

export type KeptAnswer = {
  status: number;
  /** Headers by lower-case name, without `date`. */
  headers: Record<string, string>;
  body: string;
};

/** One keep-alive connection, as a client or a proxy in front uses it. */
export type KeptConnection = {
  ask(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<KeptAnswer>;
  /** Sends all requests before it reads a response. */
  askAtOnce(requests: [method: string, path: string][]): Promise<KeptAnswer[]>;
  /** Resolves when the server has closed it. */
  ended: Promise<unknown>;
  close(): void;
};

const END_OF_HEADERS = '\r\n\r\n';

/** @param url of the server; the path is ignored @param from local address; default: any */
export async function keepConnection(url: string, host = 'x', from?: string): Promise<KeptConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress: from });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  // A connection that the server resets has ended too.
  socket.on('error', () => undefined);
  let received = Buffer.alloc(0);
  let over = false;
  let wake = () => {};
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    wake();
  });
  socket.on('close', () => {
    over = true;
    wake();
  });

  /** Reads this many bytes, or up to and including `END_OF_HEADERS`. @throws Error when the connection ends before */
  async function take(length: number | null): Promise<string> {
    for (;;) {
      const end = received.indexOf(END_OF_HEADERS);
      const until = length ?? (end < 0 ? Number.POSITIVE_INFINITY : end + END_OF_HEADERS.length);
      if (until <= received.length) {
        const taken = received.toString('utf8', 0, until);
        received = received.subarray(until);
        return taken;
      }
      if (over) throw new Error(`the connection ended after ${JSON.stringify(received.toString())}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  async function readResponse(method: string): Promise<KeptAnswer> {
    const [first = '', ...lines] = (await take(null)).trimEnd().split('\r\n');
    const headers = Object.fromEntries(
      lines
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)])
        .filter(([name]) => name !== 'date'),
    ) as Record<string, string>;
    const length = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
    return { status: Number(first.split(' ')[1]), headers, body: await take(length) };
  }

  function send(method: string, path: string, body = '', headers: Record<string, string> = {}): void {
    const lines = Object.entries({
      Host: host,
      ...(body !== '' && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  }

  return {
    ask(method, path, body, headers) {
      send(method, path, body, headers);
      return readResponse(method);
    },
    async askAtOnce(requests) {
      socket.cork();
      for (const [method, path] of requests) send(method, path);
      socket.uncork();
      const answers: KeptAnswer[] = [];
      for (const [method] of requests) answers.push(await readResponse(method));
      return answers;
    },
    ended,
    close: () => socket.destroy(),
  };
}
