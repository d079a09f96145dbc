import type { LogBatch, LogDamage } from '../../core/event-log/port.ts';
import type { DeadLetter } from '../../sql/dead-letters.ts';

const LENGTH_BYTES = 4;

/** The code at the front of a reason: what metrics are labelled with. */
export function reasonCode(reason: string): string {
  return reason.split(':', 1)[0] ?? reason;
}

/** An event of a batch that decodes but can't be taken in, with its bytes as the log carries them. */
export function deadEvent(partition: string, batch: LogBatch, sequence: bigint, reason: string): DeadLetter {
  return {
    partition,
    logOffset: batch.offset,
    streamId: batch.streamId,
    sequence,
    reason,
    payload: eventBytes(batch, sequence),
  };
}

/** A whole batch, kept under the sequence of its first event. */
export function deadBatch(partition: string, batch: LogBatch, reason: string): DeadLetter {
  return {
    partition,
    logOffset: batch.offset,
    streamId: batch.streamId,
    sequence: batch.firstSequence,
    reason,
    payload: batch.payload,
  };
}

/** A piece of the log that is no batch. */
export function deadDamage(partition: string, piece: LogDamage): DeadLetter {
  return {
    partition,
    logOffset: piece.offset,
    streamId: null,
    sequence: null,
    reason: `log_damage: ${piece.reason}`,
    payload: piece.bytes,
  };
}

/** The bytes of one event in its batch, with its length prefix; see `core/events/codec.ts`. */
function eventBytes(batch: LogBatch, sequence: bigint): Uint8Array {
  const { payload } = batch;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = 0;
  for (let skip = Number(sequence - batch.firstSequence); skip > 0; skip--) {
    at += LENGTH_BYTES + view.getUint32(at, true);
  }
  return payload.subarray(at, at + LENGTH_BYTES + view.getUint32(at, true));
}
