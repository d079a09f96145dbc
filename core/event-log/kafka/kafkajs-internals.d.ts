/** The request queue of a connection in kafkajs 2.2.4. Undocumented. */
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
    /** Requests that wait: too many are in flight, or the broker throttles. */
    pending: unknown[];
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    push(request: {
      entry: { correlationId: number; [rest: string]: unknown };
      expectResponse: boolean;
      sendRequest: () => void;
    }): void;
    fulfillRequest(answer: { correlationId: number; payload: Buffer; size: number }): void;
    /** Sends nothing for this long, as the broker demands. */
    maybeThrottle(millis: number): void;
    scheduleCheckPendingRequests(): void;
  }
}

/** The encoder of requests in kafkajs 2.2.4. Undocumented. */
declare module 'kafkajs/src/protocol/encoder.js' {
  export type Int64 = number | string | bigint | object;

  export default class Encoder {
    static nextPowerOfTwo(value: number): number;
    /** Written up to `offset`; bytes behind it are never read. */
    buf: Buffer;
    offset: number;
    get buffer(): Buffer;
    ensureAvailable(bytes: number): void;
    writeInt8(value: number): this;
    writeInt16(value: number): this;
    writeInt32(value: number): this;
    /** @param value 64 bits, also as a `Long` of kafkajs */
    writeInt64(value: Int64): this;
    writeBuffer(bytes: Buffer): this;
    writeEncoderArray(encoders: Encoder[]): this;
  }
}

/** The encoder of a record in kafkajs 2.2.4. Undocumented. */
declare module 'kafkajs/src/protocol/recordBatch/record/v0/index.js' {
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  export default function encodeRecord(record: {
    key: Buffer | string | null;
    value: Buffer;
    headers: Record<string, string>;
  }): Encoder;
}

/** The encoder of a record batch in kafkajs 2.2.4. Undocumented. */
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
