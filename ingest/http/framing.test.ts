import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';

let stores: TestStores;
let ingest: TestIngest;
let slug: string;

beforeAll(async () => {
  stores = await testStores();
  ({ slug } = await makeLink(stores.pool, (await makeWorkspace(stores.pool)).id, 'https://shop.example/'));
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

/** Sends bytes, and returns what comes back until the server closes, or the first response when it does not. */
function send(lines: string[], body: string, closes: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(ingest.url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      if (closes || !text.includes('\r\n\r\n')) return;
      socket.destroy();
      resolve(text);
    });
    socket.on('close', () => resolve(text)).on('error', reject);
    socket.write([...lines, 'Host: short.test', '', body].join('\r\n'));
  });
}

test.each(['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS'])(
  '%s with two different Content-Length headers is 400, and the connection closes',
  async (method) => {
    for (const path of [`/${slug}`, '/collect', '/health/live']) {
      const lines = [`${method} ${path} HTTP/1.1`, 'Content-Length: 0', 'Content-Length: 30'];
      const text = await send(lines, 'GET /smuggled HTTP/1.1\r\nHost: short.test\r\n\r\n', true);
      expect([path, text.split('\r\n', 1)[0], text.match(/HTTP\/1\.1/g)?.length]).toEqual([
        path,
        'HTTP/1.1 400 Bad Request',
        1,
      ]);
    }
  },
);

test.each([
  ...['xchunked', 'x', 'gzip', 'identity', 'gzip, chunked', 'chunked, identity', 'chunked, chunked'],
  'chunked\r\nTransfer-Encoding: chunked',
])(
  'a request with the Transfer-Encoding %j gets one 400, and what came with it is not read',
  async (encoding) => {
    const lines = ['POST /collect HTTP/1.1', `Transfer-Encoding: ${encoding}`];
    const behind = `GET /${slug} HTTP/1.1\r\nHost: short.test\r\n\r\n`;
    for (const body of ['', '2\r\n{}\r\n0\r\n\r\n', 'zz\r\n']) {
      for (const next of [behind, behind + behind]) {
        const text = await send(lines, body + next, true);
        expect([body, text.match(/HTTP\/1\.1 \d+/g)]).toEqual([body, ['HTTP/1.1 400']]);
      }
    }
    expect(await ingest.events()).toEqual([]);
  },
);

test('a response before a refused request is sent', async () => {
  const lines = [
    'GET /robots.txt HTTP/1.1',
    'Host: short.test',
    '',
    'POST /collect HTTP/1.1',
    'Transfer-Encoding: x',
  ];
  const text = await send(lines, 'GET /robots.txt HTTP/1.1\r\nHost: short.test\r\n\r\n', true);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});

test('chunks are read, in any case', async () => {
  for (const encoding of ['chunked', 'Chunked']) {
    const lines = ['POST /collect HTTP/1.1', `Transfer-Encoding: ${encoding}`];
    expect(await send(lines, '2\r\n{}\r\n0\r\n\r\n', false)).toMatch(/^HTTP\/1\.1 401 /);
  }
});

test('one length is fine', async () => {
  const text = await send(['POST /collect HTTP/1.1', 'Content-Length: 2'], '{}', false);
  expect(text).toMatch(/^HTTP\/1\.1 401 /);
});
