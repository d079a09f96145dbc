import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api } from '../../api/dependencies.ts';

/** A server-sent event as a browser dispatches it. */
export type ReceivedEvent = { id: string; event: string; data: string };

/** A connection to a stream of server-sent events. */
export type EventStream = {
  status: number;
  headers: IncomingMessage['headers'];
  /** The events received so far. */
  events: ReceivedEvent[];
  comments: string[];
  /** The `Last-Event-ID` that a browser would send. */
  lastId(): string;
  /** The bytes after the last complete block. */
  rest(): string;
  /** Resolves when the server has ended or cut the response. */
  ended: Promise<void>;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection. */
  close(): void;
};

/** The API's address; it listens from the first call. */
export async function originOf(app: Api): Promise<string> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** Connects; resolves with the response's head. @param url of the stream */
export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).once('error', reject);
  });
  const events: ReceivedEvent[] = [];
  const comments: string[] = [];
  let rest = '';
  let lastId = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map<string, string>();
      for (const line of block.split('\n')) {
        const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
        if (name === '') comments.push(value);
        else fields.set(name, value);
      }
      lastId = fields.get('id') ?? lastId;
      const data = fields.get('data');
      if (data !== undefined) events.push({ id: lastId, event: fields.get('event') ?? 'message', data });
    }
  });
  const ended = new Promise<void>((resolve) => {
    response.once('close', resolve).on('error', () => undefined); // a cut connection is an end too
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments,
    lastId: () => lastId,
    rest: () => rest,
    ended,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
  };
}
