import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { fastify } from 'fastify';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Config } from '../../core/settings/config.ts';
import type { Api } from '../dependencies.ts';
import { addErrors } from './errors.ts';
import { addLoadLimit } from './load-limit.ts';

const LONG = Buffer.alloc(8_000_000);

let app: Api;
const sockets: Socket[] = [];
/** Ends the work of `GET /work` and `POST /work`. */
let finish: () => void;

beforeEach(async () => {
  app = fastify() as unknown as Api;
  addErrors(app, { config: { baseUrl: 'https://hop.example' } as Config });
  addLoadLimit(app, { registry: new Registry() }, { working: 1, arriving: 1, unread: 2 });
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app.get('/work', () => work.then(() => 'done'));
  app.post('/work', () => work.then(() => 'done'));
  app.post('/public', { config: { scope: 'public' } }, () => 'done');
  app.get('/quick', () => 'done');
  app.get('/long', () => LONG);
  app.get('/stream', () => Readable.from([LONG, LONG]));
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  finish();
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

function send(text: string): Socket {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined).pause());
  socket.write(text);
  return socket;
}
const get = (path: string) => send(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
const post = (path: string, body: string) =>
  send(
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n${body}`,
  );

async function statusOf(socket: Socket): Promise<number> {
  const [head] = (await once(socket.resume(), 'data')) as [Buffer];
  return Number(head.toString('latin1', 9, 12));
}

test('a request counts while it is processed, and no longer', async () => {
  const first = get('/work');
  await expect.poll(async () => statusOf(get('/quick'))).toBe(503);
  expect(await statusOf(get('/health/live'))).toBe(404); // never 503
  finish();
  expect(await statusOf(first)).toBe(200);
  expect(await statusOf(get('/quick'))).toBe(200);
});

test('a body being received does not count as processed until it is complete', async () => {
  const body = post('/work', '{');
  await expect.poll(async () => statusOf(post('/work', '{}'))).toBe(503); // another body
  expect(await statusOf(get('/quick'))).toBe(200);
  expect(await statusOf(post('/public', '{}'))).toBe(200);
  const working = get('/work');
  await expect.poll(async () => statusOf(get('/quick'))).toBe(503);
  body.write('}');
  expect(await statusOf(body)).toBe(503);
  finish();
  expect(await statusOf(working)).toBe(200);
  expect(await statusOf(post('/work', '{}'))).toBe(200);
});

test('a response being sent does not count as processed; of too many, the oldest is cut off', async () => {
  const [first, second] = [get('/long'), get('/long')];
  const stream = get('/stream');
  await expect.poll(async () => statusOf(get('/quick'))).toBe(200);
  const third = get('/long');
  const whole = (socket: Socket) => {
    let bytes = 0;
    socket.on('data', (data: Buffer) => {
      bytes += data.length;
      if (bytes > LONG.length) socket.destroy();
    });
    return once(socket.resume(), 'close').then(() => bytes > LONG.length);
  };
  await once(third, 'readable');
  expect(await Promise.all([first, second, stream, third].map(whole))).toEqual([false, true, true, true]);
});

test('a client that disconnects frees all its slots', async () => {
  for (const begin of [() => get('/work'), () => post('/work', '{'), () => get('/long')]) {
    for (let time = 0; time < 4; time++) {
      const socket = begin();
      await once(socket, 'connect');
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
    }
  }
  await expect.poll(async () => statusOf(get('/quick'))).toBe(200);
  await expect.poll(async () => statusOf(post('/public', '{}'))).toBe(200);
});
