import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { expect, test } from 'vitest';
import './idle-queue.ts';

const quiet = () => undefined;
const logger = { info: quiet, error: quiet, warn: quiet, debug: quiet } as never;

/** The queue of a connection that takes `most` requests at once, and the numbers of those that it has sent. */
function connection(most: number) {
  const queue = new RequestQueue({
    maxInFlightRequests: most,
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
  const answer = (correlationId: number) =>
    queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 });
  return { queue, sent, send, answer };
}

test('a connection that nobody waits for has no timer, before and after answers', () => {
  const { queue, sent, send, answer } = connection(1);
  expect(queue.throttleCheckTimeoutId).toBeNull();
  send(1);
  answer(1);
  expect(sent).toEqual([1]);
  expect(queue.throttleCheckTimeoutId).toBeNull();
});

test('who waits for room is sent with the answer that makes it, and then nothing is looked for', async () => {
  const { queue, sent, send, answer } = connection(1);
  send(1);
  send(2);
  expect(sent).toEqual([1]);
  expect(queue.throttleCheckTimeoutId).not.toBeNull();
  answer(1);
  expect(sent).toEqual([1, 2]);
  answer(2);
  await expect.poll(() => queue.throttleCheckTimeoutId).toBeNull();
});

test('who waits because the broker has asked for patience is sent without anything else happening', async () => {
  const { queue, sent, send } = connection(10);
  queue.maybeThrottle(30);
  send(1);
  send(2);
  expect(sent).toEqual([]);
  await expect.poll(() => sent).toEqual([1, 2]);
  await expect.poll(() => queue.throttleCheckTimeoutId).toBeNull();
});
