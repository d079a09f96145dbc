import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { answerClientError } from './errors.ts';

test('a request that does not arrive in time is a 408 with the envelope, not a 400', async () => {
  const server = createServer({ requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 50 });
  server.on(
    'clientError',
    answerClientError(() => 'the-id', 'https://hop.example/docs/errors'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /api/v1/me HTTP/1.1\r\nhost: a\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      error: {
        code: 'request_timeout',
        message: 'the request did not arrive in time',
        request_id: 'the-id',
        doc_url: 'https://hop.example/docs/errors/request_timeout',
      },
    });
  } finally {
    server.close();
  }
});
