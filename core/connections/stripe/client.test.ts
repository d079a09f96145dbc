import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openStripe } from './client.ts';

test.each([
  { method: 'GET', requests: 2 },
  { method: 'POST', requests: 1 },
])('a $method whose connection is closed is sent $requests time(s)', async ({ method, requests }) => {
  const received: (string | undefined)[] = [];
  await using server = createServer((request) => {
    received.push(request.method);
    request.socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stripe = await openStripe('sk_test_1', `http://127.0.0.1:${port}`, 5_000);
  const call = method === 'GET' ? stripe.coupons.retrieve('c1') : stripe.coupons.create({ percent_off: 10 });
  await expect(call).rejects.toThrow('An error occurred with our connection to Stripe.');
  expect(received).toEqual(Array.from({ length: requests }, () => method));
});
