import type { LogBatch, LogDamage } from '../../core/event-log/port.ts';
import type { DeadLetter } from '../../sql/event-log/dead-letters.ts';

const LENGTH_BYTES = 4;
/** Limit of one letter, so that it fits a record of the dead-letter topic. */
const LETTER_BYTES = 768 * 1024;

/** Returns the code at the front of a reason, the label of metrics. */
export function reasonCode(reason: string): string {
  return reason.split(':', 1)[0] ?? reason;
}

/** Returns the dead letter of one event of a batch, with its bytes as in the log. */
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

/**
 * Returns the dead letters of a whole batch. A batch may be a merged record of some megabytes, so it is split; each
 * letter has the sequence of its first event.
 */
export function deadBatch(partition: string, batch: LogBatch, reason: string): DeadLetter[] {
  const { payload, offset: logOffset, streamId } = batch;
  const letters: DeadLetter[] = [];
  let sequence = batch.firstSequence;
  let [begin, at] = [0, 0];
  for (let next = sequence; at < payload.length; next += 1n) {
    const end = eventEnd(payload, at);
    if (end - begin > LETTER_BYTES && at > begin) {
      letters.push({
        partition,
        logOffset,
        streamId,
        sequence,
        reason,
        payload: payload.subarray(begin, at),
      });
      [begin, sequence] = [at, next];
    }
    at = end;
  }
  letters.push({ partition, logOffset, streamId, sequence, reason, payload: payload.subarray(begin) });
  return letters;
}

/** Returns the dead letter of a damaged piece of the log. */
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
function eventBytes({ payload, firstSequence }: LogBatch, sequence: bigint): Uint8Array {
  let at = 0;
  for (let skip = Number(sequence - firstSequence); skip > 0; skip--) at = eventEnd(payload, at);
  return payload.subarray(at, eventEnd(payload, at));
}

/** Returns the end of the event at `at`, or of the payload when it is cut short. */
function eventEnd(payload: Uint8Array, at: number): number {
  if (at + LENGTH_BYTES > payload.length) return payload.length;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return at + LENGTH_BYTES + view.getUint32(at, true);
}
