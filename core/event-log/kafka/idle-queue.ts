import type RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

type Check = (this: RequestQueue) => void;

/**
 * Wraps the timer of a connection so that it runs only while a request waits. kafkajs lets it run a thousand times a
 * second for as long as the connection is open (tulios/kafkajs#1704). A request that has to wait starts it itself.
 */
export function checkWhilePending(check: Check): Check {
  return function (this: RequestQueue) {
    if (this.pending.length > 0) check.call(this);
  };
}
