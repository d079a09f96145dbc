import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { expect, test, vi } from 'vitest';
import { adaptKafkajs } from './client.ts';

adaptKafkajs();

const quiet = () => undefined;
const logger = { info: quiet, error: quiet, warn: quiet, debug: quiet } as never;

/** The queue of a connection that sends `concurrency` requests at once, and the ids of those that it has sent. */
function connection(concurrency: number) {
  const queue = new RequestQueue({
    maxInFlightRequests: concurrency,
    requestTimeout: 30_000,
    enforceRequestTimeout: false,
    clientId: 'hoplog-test',
    broker: 'a.example:9092',
    logger,
  });
  const sent: number[] = [];
  const send = (correlationId: number) =>
    queue.push({
      entry: { correlationId, resolve: quiet, reject: quiet },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
    });
  const respond = (correlationId: number) =>
    queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 });
  return { queue, sent, send, respond };
}

test('a connection without pending requests has no timer, before and after a response', () => {
  const { queue, sent, send, respond } = connection(1);
  expect(queue.throttleCheckTimeoutId).toBeNull();
  send(1);
  respond(1);
  expect(sent).toEqual([1]);
  expect(queue.throttleCheckTimeoutId).toBeNull();
});

test('a request that waits for its turn is sent with the response before it, and the timer stops', async () => {
  const { queue, sent, send, respond } = connection(1);
  send(1);
  send(2);
  expect(sent).toEqual([1]);
  expect(queue.throttleCheckTimeoutId).not.toBeNull();
  respond(1);
  expect(sent).toEqual([1, 2]);
  respond(2);
  await expect.poll(() => queue.throttleCheckTimeoutId).toBeNull();
});

test('requests that wait because the broker throttles are sent when that ends', async () => {
  const { queue, sent, send } = connection(10);
  // The throttle does not end before both requests wait.
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  queue.maybeThrottle(30);
  send(1);
  send(2);
  clock.mockRestore();
  expect(sent).toEqual([]);
  await expect.poll(() => sent).toEqual([1, 2]);
  await expect.poll(() => queue.throttleCheckTimeoutId).toBeNull();
});
