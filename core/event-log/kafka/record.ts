import type { IHeaders, Message } from 'kafkajs';
import { asBuffer } from '../../events/as-buffer.ts';
import { describeSchemas, parseSchemas } from '../../events/fingerprints.ts';
import type { LogBatch, LogDamage } from '../port.ts';

/**
 * Headers of a record. A record is consecutive journal batches of one stream, merged so that many events share its
 * cost. Its value is the events as in the journal; its headers are what a consumer needs before it decodes them.
 */
const HEADERS = ['stream', 'first', 'count', 'min-ts', 'max-ts', 'format', 'schemas', 'previous'] as const;

/** Version of the framing in `core/events/codec.ts`; each event names its own schema version. */
const FORMAT = 'hoplog-events/1';

const DAMAGE_FORMAT = 'hoplog-damage/1';
/** Limit of damaged bytes in a record. They may not compress, and a record that is too large would stop the shipper. */
const DAMAGE_BYTES = 768 * 1024;

/**
 * Merges consecutive batches into records, one after the other in the same memory: a record is valid until the next
 * one is requested.
 *
 * @param batches of one stream, in order
 * @param into memory of the size of the largest merged record, uncompressed
 */
export function* mergeBatches(batches: readonly LogBatch[], into: Buffer): Generator<LogBatch> {
  let group: LogBatch[] = [];
  let bytes = 0;
  for (const batch of batches) {
    const last = group.at(-1);
    const follows =
      last !== undefined &&
      last.streamId === batch.streamId &&
      last.firstSequence + BigInt(last.count) === batch.firstSequence;
    if (group.length > 0 && (!follows || bytes + batch.payload.length > into.length)) {
      yield joined(group, into);
      group = [];
      bytes = 0;
    }
    group.push(batch);
    bytes += batch.payload.length;
  }
  if (group.length > 0) yield joined(group, into);
}

function joined(group: LogBatch[], into: Buffer): LogBatch {
  const [first] = group;
  const last = group.at(-1);
  if (!first || !last) throw new RangeError('no batch to join');
  if (group.length === 1) return first;
  let end = 0;
  for (const { payload } of group) {
    into.set(payload, end);
    end += payload.length;
  }
  return {
    ...first,
    nextOffset: last.nextOffset,
    count: group.reduce((sum, batch) => sum + batch.count, 0),
    minTs: first.minTs,
    maxTs: last.maxTs,
    payload: into.subarray(0, end),
  };
}

/**
 * Returns the record of a batch, for this partition.
 *
 * @param previous see {@link LogBatch}
 */
export function toMessage(batch: LogBatch, partition: number, previous?: bigint): Message {
  const schemas = describeSchemas(batch.payload);
  return {
    key: batch.streamId,
    partition,
    value: asBuffer(batch.payload),
    headers: {
      stream: batch.streamId,
      first: String(batch.firstSequence),
      count: String(batch.count),
      'min-ts': String(batch.minTs),
      'max-ts': String(batch.maxTs),
      format: FORMAT,
      ...(schemas === '' ? {} : { schemas }),
      ...(previous === undefined ? {} : { previous: String(previous) }),
    },
  };
}

/** Returns the record of unreadable bytes of the journal. Consumers make a dead letter of it. */
export function toDamageMessage(piece: LogDamage, streamId: string, partition: number): Message {
  const { value, headers } = asDamage(piece);
  return { key: streamId, partition, value, headers: { stream: streamId, ...headers } };
}

/** Returns the value and headers that mark bytes as damage. */
export function asDamage({ reason, bytes }: Pick<LogDamage, 'reason' | 'bytes'>): {
  value: Buffer;
  headers: { format: string; reason: string };
} {
  return { value: Buffer.from(bytes.subarray(0, DAMAGE_BYTES)), headers: { format: DAMAGE_FORMAT, reason } };
}

export type ReceivedMessage = { offset: string; value: Buffer | null; headers?: IHeaders };

/** Returns the batch of a record, or damage for anything else. */
export function fromMessage({ offset, value, headers = {} }: ReceivedMessage): LogBatch | LogDamage {
  const position = BigInt(offset);
  const at = { offset: position, nextOffset: position + 1n };
  const bytes = value ?? new Uint8Array();
  const [
    stream = '',
    first = '',
    count = '',
    minTs = '',
    maxTs = '',
    format = '',
    schemas = '',
    previous = '',
  ] = HEADERS.map((name) => String(headers[name] ?? ''));
  if (format === DAMAGE_FORMAT) return { ...at, reason: String(headers.reason ?? 'damaged'), bytes };
  if (format !== FORMAT) return { ...at, reason: 'unknown_format', bytes };
  const numbers = [first, count, minTs, maxTs].every((text) => /^\d{1,20}$/.test(text));
  if (!/^[0-9a-f-]{36}$/.test(stream) || !numbers || count === '0') {
    return { ...at, reason: 'broken_headers', bytes };
  }
  return {
    ...at,
    streamId: stream,
    firstSequence: BigInt(first),
    count: Number(count),
    minTs: Number(minTs),
    maxTs: Number(maxTs),
    payload: bytes,
    ...(schemas === '' ? {} : { schemas: parseSchemas(schemas) }),
    ...(/^(-1|\d{1,20})$/.test(previous) ? { previous: BigInt(previous) } : {}),
  };
}
