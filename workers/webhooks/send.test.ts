import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSender, type Sender } from './send.ts';

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const BROKEN_CHUNK = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nok';
const WHOLE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HALF = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha';

/** What is done with the requests that come, one after the other; each fits a packet. */
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
