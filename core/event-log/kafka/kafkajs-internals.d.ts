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

/** What kafkajs 2.2.4 writes its requests with: no part of what the package documents. */
declare module 'kafkajs/src/protocol/encoder.js' {
  export type Int64 = number | string | bigint | object;

  export default class Encoder {
    static nextPowerOfTwo(value: number): number;
    /** Written up to `offset`; what is behind is never read. */
    buf: Buffer;
    offset: number;
    /** What was written. */
    get buffer(): Buffer;
    /** Makes room for so many bytes behind `offset`. */
    ensureAvailable(bytes: number): void;
    writeInt8(value: number): this;
    writeInt16(value: number): this;
    writeInt32(value: number): this;
    /** @param value what kafkajs takes for 64 bits: its own `Long` too */
    writeInt64(value: Int64): this;
    writeBuffer(bytes: Buffer): this;
    writeEncoderArray(encoders: Encoder[]): this;
  }
}

/** How kafkajs 2.2.4 writes a record: no part of what the package documents. */
declare module 'kafkajs/src/protocol/recordBatch/record/v0/index.js' {
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  export default function encodeRecord(record: {
    key: Buffer | string | null;
    value: Buffer;
    headers: Record<string, string>;
  }): Encoder;
}

/** How kafkajs 2.2.4 writes what a partition is sent: no part of what the package documents. */
declare module 'kafkajs/src/protocol/recordBatch/v0/index.js' {
  import type Encoder from 'kafkajs/src/protocol/encoder.js';
  import type { Int64 } from 'kafkajs/src/protocol/encoder.js';

  export type RecordBatchOptions = {
    compression?: number;
    firstOffset?: Int64;
    firstTimestamp?: Int64;
    maxTimestamp?: Int64;
    partitionLeaderEpoch?: number;
    lastOffsetDelta?: number;
    transactional?: boolean;
    producerId?: Int64;
    producerEpoch?: number;
    firstSequence?: number;
    records: Encoder[];
  };

  const protocol: { RecordBatch(options: RecordBatchOptions): Promise<Encoder> };
  export default protocol;
}
