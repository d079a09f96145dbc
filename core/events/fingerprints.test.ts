import { expect, test } from 'vitest';
import { createAddressSealer } from './address-seal.ts';
import { createEventEncoder, decodeEvents } from './codec.ts';
import { describeSchemas, parseSchemas, schemasOfReason } from './fingerprints.ts';
import { releasedRegistry } from './schema-registry.ts';
import type { Unstamped } from './types.ts';

const OTHER = 'f'.repeat(64);
const heartbeat: Unstamped = { kind: 'heartbeat' };
const identify: Unstamped = {
  kind: 'identify',
  workspaceId: Buffer.alloc(16, 1),
  visitorId: null,
  email: 'a@example.com',
  externalUserId: null,
  source: 'server',
};
const sealer = createAddressSealer(Buffer.alloc(32, 9));

function batchOf(events: Unstamped[]) {
  const encode = createEventEncoder();
  const buffer = Buffer.alloc(4096);
  const pad = { bytes: Buffer.alloc(16), position: 0 };
  let end = 0;
  for (const event of events) end = encode(event, 1000, pad, buffer, end);
  const payload = buffer.subarray(0, end);
  return { streamId: 's', firstSequence: 0n, count: events.length, payload };
}

const fingerprint = (code: number) => releasedRegistry().schema(code, 1)?.fingerprint ?? '';

test('the description of a batch names each schema of its events once', () => {
  const { payload } = batchOf([heartbeat, identify, heartbeat]);
  expect(describeSchemas(payload)).toBe(`heartbeat.v1=${fingerprint(4)} identify.v1=${fingerprint(2)}`);
  expect(parseSchemas(describeSchemas(payload))).toEqual(
    new Map([
      ['heartbeat.v1', fingerprint(4)],
      ['identify.v1', fingerprint(2)],
    ]),
  );
});

test.each<[string, (payload: Buffer) => void]>([
  ['of an unknown kind', (payload) => payload.writeUInt8(99, 4)],
  ['of a version to come', (payload) => payload.writeUInt8(200, 5)],
])('an event %s has no description and harms no other', (_what, change) => {
  const { payload } = batchOf([heartbeat]);
  change(payload);
  expect(describeSchemas(payload)).toBe('');
});

test('a malformed description names nothing', () => {
  for (const text of ['', 'click.v1', `click=${OTHER}`, 'click.v1=abc', '=', `click.v1=${OTHER}x`]) {
    expect(parseSchemas(text).size).toBe(0);
  }
});

test('an event that was written with another schema of the same name is undecodable, its neighbors are decoded', () => {
  const batch = batchOf([heartbeat, identify, heartbeat]);
  const known = { ...batch, schemas: parseSchemas(describeSchemas(batch.payload)) };
  expect(decodeEvents(known, sealer)).toEqual(decodeEvents(batch, sealer));
  const { events, undecodable } = decodeEvents(
    { ...batch, schemas: new Map([['identify.v1', OTHER]]) },
    sealer,
  );
  expect(events.map(({ sequence }) => sequence)).toEqual([0n, 2n]);
  expect(undecodable).toMatchObject([
    { sequence: 1n, reason: `identify.v1 was written with another schema: ${OTHER}` },
  ]);
  expect(schemasOfReason(`undecodable: ${undecodable[0]?.reason}`)).toEqual(
    new Map([['identify.v1', OTHER]]),
  );
  expect(schemasOfReason('undecodable: no event kind has the code 99')).toBeUndefined();
});

test('an unknown schema in a description does not affect events with known ones', () => {
  const batch = { ...batchOf([heartbeat]), schemas: new Map([['refund.v7', OTHER]]) };
  expect(decodeEvents(batch, sealer).undecodable).toEqual([]);
});
