import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { FRAME_HEADER_BYTES, sealFrame } from '../../core/event-log/journal/frame.ts';
import { segmentPath, streamDirectory } from '../../core/event-log/journal/segments.ts';
import type { StreamIdentity } from '../../core/event-log/port.ts';
import type { AddressSealer } from '../../core/events/address-seal.ts';
import { createEventEncoder } from '../../core/events/codec.ts';
import type { TrackedEvent } from '../../core/events/types.ts';
import { uuidToBytes } from '../../core/ids.ts';

/** An event as the log has it, or bytes in the place of an event. */
export type Written = TrackedEvent | { raw: Uint8Array; ts: number };

export type LogWriter = {
  /** Writes one batch behind the others. `sequence` defaults to the one after the last. */
  append(events: readonly Written[], sequence?: bigint): void;
  /** Writes bytes that are not a valid batch. */
  damage(bytes: Uint8Array): void;
  /** Sequence of the next event. */
  next(): bigint;
  /** Logical offset behind the last batch. */
  end(): bigint;
};

/**
 * Writes a journal with times and sequences that the test chooses, which the real writer does not allow. The format is
 * the real one, and the real reader reads it.
 *
 * @param start logical offset of the segment that it begins
 */
export function createLogWriter(
  dataDir: string,
  name: string,
  stream: StreamIdentity,
  sealer: AddressSealer,
  start = 0n,
): LogWriter {
  const directory = streamDirectory(dataDir, name);
  mkdirSync(directory, { recursive: true });
  const path = segmentPath(directory, start);
  writeFileSync(path, '');
  const encode = createEventEncoder();
  let offset = 0;
  let nextSequence = 0n;

  function write(bytes: Uint8Array): void {
    appendFileSync(path, bytes);
    offset += bytes.length;
  }

  return {
    append(events, sequence = nextSequence) {
      const pads = sealer.pads(stream.streamId, sequence, events.length);
      const frame = Buffer.alloc(FRAME_HEADER_BYTES + events.length * 4_096);
      let end = FRAME_HEADER_BYTES;
      events.forEach((event, index) => {
        if ('raw' in event) {
          frame.writeUInt32LE(event.raw.length, end);
          frame.set(event.raw, end + 4);
          end += 4 + event.raw.length;
        } else {
          end = encode(event, event.ts, { bytes: pads, position: index * 16 }, frame, end);
        }
      });
      const times = events.map((event) => event.ts);
      const header = {
        offset: start + BigInt(offset),
        firstSequence: sequence,
        count: events.length,
        minTs: Math.min(...times),
        maxTs: Math.max(...times),
      };
      const whole = frame.subarray(0, end);
      sealFrame(whole, uuidToBytes(stream.streamId), header, end - FRAME_HEADER_BYTES);
      write(whole);
      nextSequence = sequence + BigInt(events.length);
    },
    damage: write,
    next: () => nextSequence,
    end: () => start + BigInt(offset),
  };
}
