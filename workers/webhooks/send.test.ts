import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSender, type Sender } from './send.ts';

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const BROKEN_CHUNK = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nok';
const WHOLE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HALF = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha';

/** Handlers of the requests, in order; each request fits a packet. */
let answers: ((socket: Socket) => void)[];
let server: Server;
let sender: Sender;
const sockets = new Set<Socket>();
beforeEach(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => answers.shift()?.(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  sender = createSender({ resolve: () => Promise.reject(new Error('no names here')), allowPrivate: true });
});
afterEach(() => {
  sender.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server.close();
});

const answer = (text: string) => (socket: Socket) => socket.write(text);
const send = (signal = new AbortController().signal) =>
  sender.send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {}, '{}', signal);

test('a receiver that responds with 101 has its connection closed', async () => {
  answers = [answer(UPGRADE)];
  expect(await send()).toMatchObject({ status: 101, body: '' });
  const [socket] = sockets;
  if (socket && !socket.closed) await once(socket, 'close');
});

test('a body that contradicts its headers does not change the status', async () => {
  answers = [answer(BROKEN_CHUNK)];
  expect(await send()).toMatchObject({ status: 200 });
});

test('a connection that is reset within the body has delivered the status: no retry', async () => {
  const half = (socket: Socket) => socket.write(HALF, () => setTimeout(() => socket.resetAndDestroy(), 50));
  answers = [answer(WHOLE), half, answer(WHOLE)];
  expect(await send()).toMatchObject({ status: 200, body: 'ok' });
  expect(await send()).toMatchObject({ status: 200, body: 'ha' });
  expect(sockets.size).toBe(1); // the second was sent on the connection of the first
  expect(answers).toHaveLength(1);
});

test('an attempt cut off before the status fails with the reason; after the status, the status counts', async () => {
  const before = new AbortController();
  answers = [() => before.abort(new Error('cut off')), answer(HALF)];
  await expect(send(before.signal)).rejects.toThrow('cut off');
  const after = new AbortController();
  const cutOff = () => setImmediate(() => after.abort());
  subscribe('http.client.response.finish', cutOff);
  expect(await send(after.signal)).toMatchObject({ status: 200, body: 'ha' });
  unsubscribe('http.client.response.finish', cutOff);
});

const ok = (rest: string) => `HTTP/1.1 200 OK\r\n${rest}`;

test.each([
  ['20 KB of headers', ok(`X-Long: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`)],
  ["a blank in a header's name", ok('X Bad: 1\r\nContent-Length: 2\r\n\r\nok')],
  ['line feeds only', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['two lengths', ok('Content-Length: 2\r\nContent-Length: 3\r\n\r\nok')],
  ['a length and chunks', ok('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')],
  ['a NUL in a header', ok('X-Zero: \0\r\nContent-Length: 2\r\n\r\nok')],
])('a response with %s counts by its status line', async (_, text) => {
  answers = [answer(text)];
  expect(await send()).toMatchObject({ status: 200 });
});

test('a malformed response with another status has that status, and no HTTP at all is an error', async () => {
  answers = [answer('HTTP/1.1 503 Busy\r\nX Bad: 1\r\n\r\n'), answer('SSH-2.0-OpenSSH_9.2\r\n')];
  expect(await send()).toMatchObject({ status: 503 });
  await expect(send()).rejects.toThrow();
});

const STATUS = 'HTTP/1.1 200 OK\r\n';
test.each<[string, (socket: Socket) => void]>([
  ['closes after its status line', (socket) => socket.end(STATUS)],
  ['sends 103 before', (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${STATUS}`)],
  [
    'sends long 103s, 100, and 102 before, in pieces',
    (socket) => {
      const hints = `HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(2_000)}>\r\n\r\n`;
      const others = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: 1\r\n\r';
      const parts = [hints, `${hints}${others}`, '\nHTTP/1.', '1 200 OK\r\n'];
      const next = () => {
        const part = parts.shift();
        if (part === undefined) socket.end();
        else socket.write(part, () => setTimeout(next, 20));
      };
      next();
    },
  ],
  ['closes inside its headers', (socket) => socket.end(`${STATUS}Content-Le`)],
  [
    'resets inside its headers',
    (socket) => socket.write(`${STATUS}X: 1\r\n`, () => setTimeout(() => socket.resetAndDestroy(), 50)),
  ],
])('a receiver that %s has responded', async (_, respond) => {
  answers = [respond];
  expect(await send()).toEqual({ status: 200, body: '', retryAfter: undefined });
});

test('a receiver that sends nothing after its status line has responded', async () => {
  sender.close();
  const resolve = () => Promise.reject(new Error('no names here'));
  sender = createSender({ resolve, allowPrivate: true, responseMs: 300 });
  answers = [answer('HTTP/1.1 503 Busy\r\n')];
  expect(await send()).toMatchObject({ status: 503 });
});

test('a status line of 1xx, or half of one, is no response', async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n';
  for (const text of ['HTTP/1.1 100 Continue\r\n\r\n', `${interim}HTTP/1.1 20`, interim, 'HTTP/1.1 20', '']) {
    answers = [(socket) => socket.end(text)];
    await expect(send()).rejects.toThrow();
  }
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a body with content-encoding %s is readable', async (encoding, compress) => {
  const body = compress('all is well');
  const head = ok(`Content-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`);
  answers = [(socket) => socket.write(Buffer.concat([Buffer.from(head), body]))];
  expect(await send()).toMatchObject({ status: 200, body: 'all is well' });
});

test('a compressed body that unpacks to more than is kept, or to nothing, is named', async () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  for (const body of [bomb, Buffer.from('not gzip')]) {
    const head = ok(`Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`);
    answers = [(socket) => socket.write(Buffer.concat([Buffer.from(head), body]))];
    expect((await send()).body).toBe(`(a body of ${body.length} bytes with content-encoding gzip)`);
  }
});
