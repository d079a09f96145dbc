import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { schema } from 'avsc';
import { describe, expect, test } from 'vitest';
import { plainEvents } from '../../test/support/plain-events.ts';
import { frameAt } from '../event-log/journal/frame.ts';
import type { LogBatch } from '../event-log/port.ts';
import { createAddressSealer } from './address-seal.ts';
import { createEventEncoder, decodeEvents } from './codec.ts';
import { createSchemaRegistry, releasedSchemas, type VersionedSchema } from './schema-registry.ts';
import type { Unstamped } from './types.ts';

const fixtureKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index));

/** A batch in its frame, as release 0.1 writes it, and its permanent meaning. Never regenerate it. */
function writtenByVersion1(): { batch: LogBatch; expected: Record<string, unknown>[] } {
  const bytes = readFileSync(new URL('./fixtures/batch.v1.bin', import.meta.url));
  const found = frameAt(bytes, 0, 0n);
  if (found.kind !== 'frame') throw new Error(`the fixture is ${found.kind}`);
  const json = readFileSync(new URL('./fixtures/batch.v1.json', import.meta.url), 'utf8');
  const { events } = JSON.parse(json) as { events: Record<string, unknown>[] };
  return { batch: found.batch, expected: events };
}

/** An event as the fixture's JSON shows it: bytes in hexadecimal. */
function readable(event: object): Record<string, unknown> {
  const text = (value: unknown): unknown => {
    if (Buffer.isBuffer(value)) return value.toString('hex');
    return Array.isArray(value) ? value.map(text) : value;
  };
  return Object.fromEntries(Object.entries(event).map(([key, value]) => [key, text(value)]));
}

function withNextClick(field: { name: string; type: string; default?: unknown }): VersionedSchema[] {
  const released = releasedSchemas();
  const click = released.findLast(({ kind }) => kind === 'click')?.schema as schema.RecordType;
  const next = { ...click, fields: [...click.fields, field] };
  return [...released, { kind: 'click', version: 2, schema: next }];
}

describe('records of an earlier version', () => {
  test('are read by this release with their meaning', () => {
    const { batch, expected } = writtenByVersion1();
    const { events, undecodable } = decodeEvents(batch, createAddressSealer(fixtureKey));
    expect(undecodable).toEqual([]);
    expect(plainEvents(events).map(({ event }) => readable(event))).toEqual(expected);
    expect(events.map(({ sequence }) => sequence - batch.firstSequence)).toEqual([0n, 1n, 2n, 3n, 4n]);
  });

  test('are read by a release with a new field, which gets its default', () => {
    const registry = createSchemaRegistry(
      withNextClick({ name: 'languages', type: 'string', default: 'unknown' }),
    );
    const { batch, expected } = writtenByVersion1();
    const { events, undecodable } = decodeEvents(batch, createAddressSealer(fixtureKey), registry);
    expect(undecodable).toEqual([]);
    expect(events.map(({ event }) => readable(event))).toEqual(
      expected.map((event) => (event.kind === 'click' ? { ...event, languages: 'unknown' } : event)),
    );
  });

  test('share a batch with records of the new version', () => {
    const registry = createSchemaRegistry(withNextClick({ name: 'hops', type: 'int', default: 7 }));
    const { batch } = writtenByVersion1();
    const heartbeat: Unstamped = { kind: 'heartbeat' };
    const buffer = Buffer.alloc(100);
    const pad = { bytes: Buffer.alloc(16), position: 0 };
    const end = createEventEncoder(registry)(heartbeat, 5, pad, buffer, 0);
    const payload = Buffer.concat([batch.payload, buffer.subarray(0, end)]);
    const mixed = { ...batch, payload, count: batch.count + 1 };
    const { events } = decodeEvents(mixed, createAddressSealer(fixtureKey), registry);
    expect(events).toHaveLength(6);
    expect(events[0]?.event).toMatchObject({ hops: 7 });
  });
});

describe('the schema registry', () => {
  test('knows released schemas by fingerprints that never change', () => {
    const registry = createSchemaRegistry(releasedSchemas());
    const known = [1, 2, 3, 4].map((code) => registry.schema(code, 1));
    expect(known).toEqual([
      expect.objectContaining({
        name: 'click.v1',
        fingerprint: 'e53dd8e85b2e2debf8d10d036bbc139ab591ce4fd709ddeca528a6127c8db180',
      }),
      expect.objectContaining({
        name: 'identify.v1',
        fingerprint: '207232cfd7883ead9f06921512b12ff31506e6c08950335f3fb916f8bd771f00',
      }),
      expect.objectContaining({
        name: 'order.v1',
        fingerprint: '7bd7213ef55819ef528d82c058537a011caceb7e3ec0505e04474477c304b51c',
      }),
      expect.objectContaining({
        name: 'heartbeat.v1',
        fingerprint: '9fc5c20dc6bf1ca7cae2e4327bde40998c0f9368c84c5c151854e5dcdf21aad9',
      }),
    ]);
    expect([registry.schema(1, 2), registry.schema(99, 1)]).toEqual([null, null]);
  });

  test('computes fingerprints of the canonical form, without documentation and defaults', () => {
    const heartbeat = { type: 'record', name: 'hoplog.Heartbeat', fields: [{ name: 'ts', type: 'long' }] };
    const canonical = '{"name":"hoplog.Heartbeat","type":"record","fields":[{"name":"ts","type":"long"}]}';
    const others = releasedSchemas().filter(({ kind }) => kind !== 'heartbeat');
    const registry = createSchemaRegistry([
      ...others,
      { kind: 'heartbeat', version: 1, schema: heartbeat as schema.RecordType },
    ]);
    const expected = createHash('sha256').update(canonical).digest('hex');
    expect(registry.schema(4, 1)?.fingerprint).toBe(expected);
    expect(createSchemaRegistry(releasedSchemas()).schema(4, 1)?.fingerprint).toBe(expected);
  });

  test('rejects a new version that cannot read the old one', () => {
    expect(() => createSchemaRegistry(withNextClick({ name: 'languages', type: 'string' }))).toThrow();
  });

  test('rejects a version given twice and a kind without a schema', () => {
    const released = releasedSchemas();
    expect(() => createSchemaRegistry([...released, ...released.slice(0, 1)])).toThrow('twice');
    expect(() => createSchemaRegistry(released.filter(({ kind }) => kind !== 'click'))).toThrow(
      'event kind click has no schema',
    );
  });

  test('makes a record of a future version a dead letter beside the others', () => {
    const future = createSchemaRegistry(withNextClick({ name: 'hops', type: 'int', default: 3 }));
    const { batch } = writtenByVersion1();
    const sealer = createAddressSealer(fixtureKey);
    const [click] = decodeEvents(batch, sealer).events;
    const buffer = Buffer.alloc(1000);
    const pad = { bytes: Buffer.alloc(16), position: 0 };
    if (click?.event.kind !== 'click') throw new Error('the fixture begins with a click');
    const [event] = plainEvents([click]).map((decoded) => decoded.event);
    const end = createEventEncoder(future)(event ?? { kind: 'heartbeat' }, 5, pad, buffer, 0);
    const payload = Buffer.concat([buffer.subarray(0, end), batch.payload]);
    const { events, undecodable } = decodeEvents({ ...batch, payload, count: batch.count + 1 }, sealer);
    expect(undecodable).toMatchObject([
      { sequence: batch.firstSequence, reason: 'click of version 2: no such schema here' },
    ]);
    expect(events).toHaveLength(5);
  });
});
