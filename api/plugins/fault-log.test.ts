import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type FastifyBaseLogger, fastify, LogController } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AppError } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';
import type { Api } from '../dependencies.ts';
import { addErrors } from './errors.ts';

type Line = { msg: string; why?: string; refused?: number; err?: { message: string; stack: string } };

let app: Api;
let lines: Line[];

beforeEach(() => {
  lines = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Line) });
  app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
  }) as unknown as Api;
  addErrors(app, { config: { baseUrl: 'https://hop.example' } as Config });
  app.get('/full', () => {
    throw new AppError('unavailable', 'full');
  });
  app.get('/down', () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  });
  app.post('/', () => 'done');
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

test('requests refused by a limit are one log line a second, with their number and without a stack', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const refuse = async (times: number) => {
    for (let time = 0; time < times; time++) expect((await app.inject('/full')).statusCode).toBe(503);
  };
  await refuse(100);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ msg: 'refused requests: unavailable', why: 'full', refused: 1 });
  vi.advanceTimersByTime(1_001);
  await refuse(100);
  expect(lines.map(({ refused }) => refused)).toEqual([1, 100]);
  expect(JSON.stringify(lines)).not.toContain('.ts:');
});

test('a database that is down is logged with each request and its cause', async () => {
  await app.inject('/down');
  await app.inject('/down');
  expect(lines.map(({ err }) => err?.message)).toEqual(['connect ECONNREFUSED', 'connect ECONNREFUSED']);
});

test('a client that disconnects within a body is not logged', async () => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const began = once(app.server, 'request');
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{');
  const [, response] = await began;
  socket.destroy();
  await once(response, 'close');
  // Waits for the handlers under way.
  await app.close();
  expect(lines.filter(({ msg }) => msg.includes('refused') || msg.includes('failed'))).toEqual([]);
});
