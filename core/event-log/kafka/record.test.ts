import type { IHeaders, Message } from 'kafkajs';
import { expect, test } from 'vitest';
import { createAddressSealer } from '../../events/address-seal.ts';
import { createEventEncoder, decodeEvents } from '../../events/codec.ts';
import { releasedRegistry } from '../../events/schema-registry.ts';
import type { LogBatch } from '../port.ts';
import { fromMessage, mergeBatches, toDamageMessage, toMessage } from './record.ts';

const STREAM = '01a1fd81-2a35-7000-b576-f6765cc766a2';

function batch(first: bigint, count: number, bytes = 10, streamId = STREAM): LogBatch {
  const payload = Buffer.alloc(bytes, Number(first % 256n));
  const minTs = Number(first) * 10;
  return {
    offset: first * 100n,
    nextOffset: first * 100n + 100n,
    streamId,
    firstSequence: first,
    count,
    minTs,
    maxTs: minTs + count,
    payload,
  };
}

test('consecutive batches become one record, others do not', () => {
  const into = Buffer.alloc(1_000);
  const merged = [...mergeBatches([batch(0n, 3), batch(3n, 2), batch(6n, 1), batch(1n << 40n, 4)], into)];
  expect(merged.map(({ firstSequence, count }) => [firstSequence, count])).toEqual([
    [0n, 5],
    [6n, 1],
    [1n << 40n, 4],
  ]);
  expect(merged[0]).toMatchObject({ offset: 0n, nextOffset: 400n, minTs: 0, maxTs: 32 });
  expect(merged[0]?.payload.length).toBe(20);
});

test('a record stays below its limit, and a batch above it goes alone', () => {
  const batches = [batch(0n, 1, 60), batch(1n, 1, 60), batch(2n, 1, 500), batch(3n, 1, 10)];
  const merged = [...mergeBatches(batches, Buffer.alloc(100))];
  expect(merged.map(({ payload }) => payload.length)).toEqual([60, 60, 500, 10]);
});

test('records share one memory, and nothing of a longer one is left in the next', () => {
  const into = Buffer.alloc(100);
  const batches = [batch(1n, 1, 40), batch(2n, 1, 60), batch(3n, 1, 20), batch(4n, 1, 30)];
  const payloads: number[][] = [];
  for (const { payload } of mergeBatches(batches, into)) {
    expect(payload.buffer).toBe(into.buffer);
    payloads.push([...payload]);
  }
  const bytes = (value: number, count: number) => Array<number>(count).fill(value);
  expect(payloads).toEqual([
    [...bytes(1, 40), ...bytes(2, 60)],
    [...bytes(3, 20), ...bytes(4, 30)],
  ]);
});

test('a batch is read back from its record, at the offset of the broker', () => {
  const sent = batch(7n, 3);
  const { value, headers } = toMessage(sent, 2);
  const received = fromMessage({ offset: '41', value: Buffer.from(value ?? ''), headers });
  expect(received).toEqual({ ...sent, offset: 41n, nextOffset: 42n });
});

function heartbeats(): LogBatch {
  const payload = Buffer.alloc(64);
  const pad = { bytes: Buffer.alloc(16), position: 0 };
  const end = createEventEncoder()({ kind: 'heartbeat' }, 70, pad, payload, 0);
  return { ...batch(7n, 1), payload: payload.subarray(0, end) };
}

function receive({ value, headers }: Message, changes: IHeaders = {}) {
  const message = { offset: '41', value: value as Buffer, headers: { ...headers, ...changes } };
  const received = fromMessage(message);
  if ('reason' in received) throw new Error(received.reason);
  return received;
}

test('a record names the schemas of its events by fingerprint', () => {
  const { headers } = toMessage(heartbeats(), 0);
  const { fingerprint } = releasedRegistry().schema(4, 1) ?? {};
  expect(headers?.schemas).toBe(`heartbeat.v1=${fingerprint}`);
  expect(receive(toMessage(heartbeats(), 0)).schemas).toEqual(new Map([['heartbeat.v1', fingerprint]]));
});

test('records with a known, an unknown and no fingerprint are told apart', () => {
  const sealer = createAddressSealer(Buffer.alloc(32));
  const decoded = (changes: IHeaders) => decodeEvents(receive(toMessage(heartbeats(), 0), changes), sealer);
  const known = decoded({});
  expect(known.events).toMatchObject([{ sequence: 7n, event: { kind: 'heartbeat', ts: 70 } }]);
  const { schemas: _, ...before } = toMessage(heartbeats(), 0).headers ?? {};
  const old = receive({ ...toMessage(heartbeats(), 0), headers: before });
  expect(old).not.toHaveProperty('schemas');
  expect(decodeEvents(old, sealer)).toEqual(known);
  // Of a schema that the record does not use, or malformed: the events can be read.
  expect(decoded({ schemas: `refund.v1=${'a'.repeat(64)}` })).toEqual(known);
  expect(decoded({ schemas: 'crc:12' })).toEqual(known);
  const other = decoded({ schemas: `heartbeat.v1=${'a'.repeat(64)}` });
  expect(other.events).toEqual([]);
  expect(other.undecodable).toMatchObject([
    { sequence: 7n, reason: `heartbeat.v1 was written with another schema: ${'a'.repeat(64)}` },
  ]);
});

test('damage is read back as damage with its reason', () => {
  const piece = { offset: 1n, nextOffset: 9n, reason: 'bad_crc', bytes: Buffer.from('torn') };
  const { value, headers } = toDamageMessage(piece, STREAM, 0);
  expect(fromMessage({ offset: '5', value: Buffer.from(value ?? ''), headers })).toEqual({
    offset: 5n,
    nextOffset: 6n,
    reason: 'bad_crc',
    bytes: Buffer.from('torn'),
  });
});

test.each([
  ['no headers at all', {}, 'unknown_format'],
  ['another format', { format: 'json' }, 'unknown_format'],
  ['a broken count', { count: '-1' }, 'broken_headers'],
  ['no event', { count: '0' }, 'broken_headers'],
  ['a broken stream', { stream: 'x' }, 'broken_headers'],
])('a record with %s is damage, not an exception', (name, change, reason) => {
  const { headers } = toMessage(batch(7n, 3), 0);
  const given = name === 'no headers at all' ? {} : { ...headers, ...change };
  const received = fromMessage({ offset: '1', value: Buffer.from('poison'), headers: given });
  expect(received).toMatchObject({ offset: 1n, nextOffset: 2n, reason });
});
