/** What a connection of kafkajs 2.2.4 sends its requests through: no part of what the package documents. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    constructor(options: {
      maxInFlightRequests: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      clientId: string;
      broker: string;
      logger: import('kafkajs').Logger;
    });
    /** Requests that wait: too many are under way, or the broker has asked for patience. */
    pending: unknown[];
    /** Set while it is to look again. */
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    /** Sends a request, at once or when it may. */
    push(request: {
      entry: { correlationId: number; [rest: string]: unknown };
      expectResponse: boolean;
      sendRequest: () => void;
    }): void;
    /** Takes the answer to a request. */
    fulfillRequest(answer: { correlationId: number; payload: Buffer; size: number }): void;
    /** Sends nothing for so many milliseconds, as the broker has asked. */
    maybeThrottle(millis: number): void;
    /** Looks after a while whether a request that waits may be sent, and again after that. */
    scheduleCheckPendingRequests(): void;
  }
}
