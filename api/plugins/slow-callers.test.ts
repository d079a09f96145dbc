import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fastify } from 'fastify';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { openEventStream, originOf } from '../../test/support/event-stream.ts';
import type { Api } from '../dependencies.ts';
import { addConnectionLimit } from './connection-limit.ts';

let api: TestApi;
let shop: TestWorkspace;
let url: URL;
const sockets: Socket[] = [];

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  url = new URL(await originOf(api.app));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => api.close());

/** Opens a connection and sends this on it. Nothing is read from it before `resume`. */
async function connection(sent: string): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname).on('error', () => undefined);
  sockets.push(socket.pause());
  await new Promise((resolve) => socket.write(sent, resolve));
  return socket;
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
/** The beginning of a request whose body never arrives. */
const slowPost = (path: string) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\norigin: ${api.deps.config.appUrl}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{`;

async function inFlight(): Promise<number> {
  const text = await api.deps.registry.getSingleMetricAsString('hoplog_api_requests_in_flight');
  return Number(/ (\d+)$/m.exec(text)?.[1]);
}

async function statusOf(path: string, init?: RequestInit): Promise<number> {
  const answer = await fetch(new URL(path, url), { ...init, signal: AbortSignal.timeout(45_000) });
  await answer.arrayBuffer();
  return answer.status;
}

test('unread responses and bodies that never arrive do not block other clients', async () => {
  // The first request writes and compresses the document.
  expect(await statusOf('/api/v1/openapi.json')).toBe(200);
  await connection(get('/api/v1/openapi.json').repeat(1_500));
  await Promise.all(Array.from({ length: 200 }, () => connection(slowPost('/api/v1/session'))));
  await expect.poll(inFlight).toBe(0);
  expect(await statusOf('/api/v1/openapi.json')).toBe(200);
  const authorization = `Bearer ${shop.secretKey}`;
  expect(await statusOf('/api/v1/folders', { headers: { authorization } })).toBe(200);
  const signIn = await statusOf('/api/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: api.deps.config.appUrl },
    body: JSON.stringify({ email: 'nobody@shop.example', password: 'not the password' }),
  });
  expect(signIn).toBe(401);
});

const statusesOf = (text: string) => text.match(/HTTP\/1.1 \d+/g);

test('requests that are pipelined all get their responses, in order', async () => {
  const found = get('/api/v1/openapi.json');
  const last = get('/api/v1/me', 'connection: close\r\n');
  const socket = await connection(
    get('/api/v1/me').repeat(50) + found + get('/api/v1/me').repeat(2_000) + last,
  );
  expect(statusesOf(await textOf(socket))).toEqual([
    ...Array(50).fill('HTTP/1.1 401'),
    'HTTP/1.1 200',
    ...Array(2_001).fill('HTTP/1.1 401'),
  ]);
});

test('a client that closes its side after whole requests gets their responses', async () => {
  const socket = await connection('');
  socket.end(get('/api/v1/me', `authorization: Bearer ${shop.secretKey}\r\n`).repeat(20));
  expect(statusesOf(await textOf(socket))).toEqual(Array(20).fill('HTTP/1.1 200'));
});

test('where too many requests wait, the next gets a 503 and its connection ends', async () => {
  const app = fastify() as unknown as Api;
  addConnectionLimit(app, { maxWaiting: 2 });
  const answered = Promise.withResolvers<void>();
  let arrived = 0;
  app.get('/', async () => {
    arrived += 1;
    await answered.promise;
    return 'done';
  });
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), '127.0.0.1');
  sockets.push(socket);
  socket.write(get('/').repeat(40));
  await expect.poll(() => arrived).toBe(16);
  answered.resolve();
  expect(statusesOf(await textOf(socket))).toEqual([...Array(18).fill('HTTP/1.1 200'), 'HTTP/1.1 503']);
  expect(arrived).toBe(18);
  await app.close();
});

test('sequential requests over one connection are not limited', async () => {
  const socket = (await connection('')).resume();
  let text = '';
  socket.setEncoding('latin1').on('data', (data: string) => {
    text += data;
  });
  for (let made = 1; made <= 40; made++) {
    socket.write(get('/health/live'));
    await expect.poll(() => text.match(/HTTP\/1.1 200/g)?.length).toBe(made);
  }
});

test('requests behind a live stream free their slots when the connection closes', async () => {
  const live = get('/api/v1/clicks/live', `authorization: Bearer ${shop.secretKey}\r\n`);
  for (let round = 0; round < 3; round++) {
    const socket = await connection(live.repeat(10));
    await once(socket.resume(), 'data');
    socket.destroy();
  }
  const streamed = async () => {
    const stream = await openEventStream(`${url.origin}/api/v1/clicks/live`, {
      authorization: `Bearer ${shop.secretKey}`,
    });
    stream.close();
    return stream.status;
  };
  await expect.poll(streamed).toBe(200);
  await expect.poll(inFlight).toBe(0);
});

test('an unread response is cut off, later than the slowest report takes', async () => {
  const { server } = api.app;
  const limit = server.timeout;
  expect(limit).toBeGreaterThan(60_000);
  server.timeout = 300;
  try {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    await connection(get('/api/v1/openapi.json').repeat(16));
    const [unread] = await accepted;
    if (!unread.destroyed) await once(unread, 'close');
  } finally {
    server.timeout = limit;
  }
});

test('a body that needs no key is 413 beyond 64 KiB', async () => {
  const refused = await shop.post('/session/invite/view', { token: 'x'.repeat(70_000) }, { key: null });
  expect(refused.status).toBe(413);
});

function textOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (data: string) => {
      text += data;
    });
    socket.once('end', () => resolve(text)).resume();
  });
}
