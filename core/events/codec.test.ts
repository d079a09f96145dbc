import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyClick, anyId } from '../../test/support/any-clicks.ts';
import { codePoint } from '../../test/support/code-point.ts';
import { plainEvents } from '../../test/support/plain-events.ts';
import { ADDRESS_BYTES, createAddressSealer } from './address-seal.ts';
import { NO_LABELS } from './click-labels.ts';
import { createEventEncoder, decodeEvents } from './codec.ts';
import type { ClickEvent, OrderEvent, TrackedEvent, Unstamped } from './types.ts';

const sealer = createAddressSealer(Buffer.alloc(32, 9));
const streamId = '01900000-0000-7000-8000-000000000001';
const firstSequence = (5n << 40n) | 1000n;

/** Encodes events as one batch; event `i` gets the time `1000 + i`. */
function batchOf(events: Unstamped[]) {
  const encode = createEventEncoder();
  const buffer = Buffer.alloc(1 << 20);
  const bytes = sealer.pads(streamId, firstSequence, events.length);
  let end = 0;
  for (const [index, event] of events.entries()) {
    end = encode(event, 1000 + index, { bytes, position: index * ADDRESS_BYTES }, buffer, end);
  }
  return { streamId, firstSequence, count: events.length, payload: buffer.subarray(0, end) };
}

function stamped(events: Unstamped[]): { sequence: bigint; event: TrackedEvent }[] {
  return events.map((event, index) => ({
    sequence: firstSequence + BigInt(index),
    event: { ...event, ts: 1000 + index } as TrackedEvent,
  }));
}

const id = anyId.map((bytes) => Buffer.from(bytes));
/** Whole characters only: a lone surrogate has no UTF-8 form. */
const text = fc.string({ unit: codePoint, maxLength: 300 });
const optional = fc.option(text, { nil: null });
const source = fc.constantFrom('pixel' as const, 'server' as const);

const click = anyClick(text, { id, mostFlags: 7 });
const anyEvent: fc.Arbitrary<Unstamped> = fc.oneof(
  click,
  fc.record({
    kind: fc.constant('identify' as const),
    workspaceId: id,
    visitorId: fc.option(id, { nil: null }),
    otherVisitorIds: fc.array(id, { maxLength: 8 }),
    landedAt: fc.array(fc.nat({ max: 2 ** 51 }), { maxLength: 8 }),
    email: optional,
    externalUserId: optional,
    source,
  }),
  fc.record({
    kind: fc.constant('order' as const),
    workspaceId: id,
    visitorId: fc.option(id, { nil: null }),
    otherVisitorIds: fc.array(id, { maxLength: 8 }),
    landedAt: fc.array(fc.nat({ max: 2 ** 51 }), { maxLength: 8 }),
    orderId: text,
    amountMinor: fc.integer({ min: 1 - 2 ** 52, max: 2 ** 52 - 1 }),
    currency: text,
    email: optional,
    externalUserId: optional,
    commissionableMinor: fc.option(fc.integer({ min: 0 }), { nil: null }),
    isRenewal: fc.boolean(),
    source,
  }),
  fc.constant({ kind: 'heartbeat' as const }),
);

const CLICK: Unstamped<ClickEvent> = {
  kind: 'click',
  workspaceId: Buffer.alloc(16, 1),
  linkId: Buffer.alloc(16, 2),
  visitorId: Buffer.alloc(16, 3),
  labels: NO_LABELS,
  language: '',
  channel: 'twitter',
  referer: '',
  userAgent: 'agent',
  address: Buffer.alloc(16, 4),
  flags: 1,
  ad: { param: 'gclid', id: 'Cj0KCQ' },
};

const ORDER: Unstamped<OrderEvent> = {
  kind: 'order',
  workspaceId: Buffer.alloc(16, 1),
  visitorId: null,
  orderId: 'order-1',
  amountMinor: 1999,
  commissionableMinor: null,
  currency: 'usd',
  isRenewal: false,
  email: null,
  externalUserId: null,
  source: 'server',
};

describe('the event codec', () => {
  test('decodes every event of any batch, with its sequence and time', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 40 }), (events) => {
        const decoded = decodeEvents(batchOf(events), sealer);
        expect(decoded.undecodable).toEqual([]);
        expect(plainEvents(decoded.events)).toEqual(stamped(events));
      }),
    );
  });

  test('accepts ids as any kind of byte array', () => {
    const whole = new Uint8Array(64).fill(7);
    const event = { ...CLICK, linkId: whole.subarray(16, 32), address: whole.subarray(32, 48) };
    const [decoded] = plainEvents(decodeEvents(batchOf([event]), sealer).events);
    expect(decoded?.event).toMatchObject({ linkId: Buffer.alloc(16, 7), address: Buffer.alloc(16, 7) });
  });

  test('writes no address in clear', () => {
    const address = Buffer.from('00000000000000000000ffffc0000217', 'hex');
    const { payload } = batchOf([{ ...CLICK, address }]);
    expect([payload.includes(address), payload.includes(address.subarray(12))]).toEqual([false, false]);
  });

  test('reports when an event does not fit, at every size that is too small', () => {
    const encode = createEventEncoder();
    const pad = { bytes: Buffer.alloc(16), position: 0 };
    const size = encode(CLICK, 1000, pad, Buffer.alloc(1000), 0);
    for (let room = 0; room < size; room++) {
      expect(encode(CLICK, 1000, pad, Buffer.alloc(room), 0)).toBe(-1);
    }
    expect(encode(CLICK, 1000, pad, Buffer.alloc(size), 0)).toBe(size);
  });

  test('rejects values that do not match their type', () => {
    const encode = createEventEncoder();
    const pad = { bytes: Buffer.alloc(16), position: 0 };
    const wrong: Unstamped[] = [
      { ...CLICK, address: Buffer.alloc(4) },
      { ...CLICK, linkId: Buffer.alloc(15) },
      { ...CLICK, flags: 0.5 },
      { ...ORDER, amountMinor: 2 ** 52 },
      { ...ORDER, amountMinor: 19.99 },
    ];
    for (const event of wrong) expect(() => encode(event, 1, pad, Buffer.alloc(1000), 0)).toThrow();
  });
});

describe('an undecodable event', () => {
  const three = [CLICK, { ...CLICK, userAgent: 'in the middle' }, { ...CLICK, userAgent: 'after it' }];

  /** A batch of three whose middle event is damaged by `damage`, which gets its envelope and body. */
  function damaged(damage: (event: Buffer) => void) {
    const batch = batchOf(three);
    const start = 4 + batch.payload.readUInt32LE(0);
    const end = start + 4 + batch.payload.readUInt32LE(start);
    damage(batch.payload.subarray(start, end));
    return { decoded: decodeEvents(batch, sealer), bytes: batch.payload.subarray(start, end) };
  }

  test.each<[string, (event: Buffer) => void]>([
    ['no event kind has the code 99', (event) => event.writeUInt8(99, 4)],
    ['click of version 200: no such schema here', (event) => event.writeUInt8(200, 5)],
    ['click: its body does not end where its envelope says', (event) => event.fill(0x80, 6 + 8)],
    ['identify: ', (event) => event.writeUInt16LE(0x0102, 4)],
    ['heartbeat: its body does not end', (event) => event.writeUInt16LE(0x0104, 4)],
  ])('is returned with "%s" and its bytes, and its neighbors are decoded', (reason, damage) => {
    const { decoded, bytes } = damaged(damage);
    expect(decoded.events.map(({ sequence }) => sequence)).toEqual([firstSequence, firstSequence + 2n]);
    expect(plainEvents(decoded.events)).toEqual([stamped(three)[0], stamped(three)[2]]);
    expect(decoded.undecodable).toEqual([
      { sequence: firstSequence + 1n, reason: expect.stringContaining(reason), bytes },
    ]);
  });

  test('is everything from a broken envelope on, and the events before it are decoded', () => {
    for (const length of [0, 1, 0xffff_ffff]) {
      const { decoded } = damaged((event) => event.writeUInt32LE(length, 0));
      expect(plainEvents(decoded.events)).toEqual([stamped(three)[0]]);
      expect(decoded.undecodable).toMatchObject([
        { sequence: firstSequence + 1n, reason: 'event 2 of 3 runs past its batch' },
      ]);
    }
  });

  test('is also what follows the last counted event', () => {
    const batch = { ...batchOf(three), count: 2 };
    const decoded = decodeEvents(batch, sealer);
    expect(plainEvents(decoded.events)).toEqual(stamped(three).slice(0, 2));
    expect(decoded.undecodable).toMatchObject([{ reason: 'bytes after the last of 2 events' }]);
  });

  test('never makes the decoder throw, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat({ max: 5 }), (payload, count) => {
        decodeEvents({ streamId, firstSequence, count, payload }, sealer);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const batch = batchOf(three);
        for (const [position, value] of changes) batch.payload[position % batch.payload.length] = value;
        decodeEvents(batch, sealer);
      }),
    );
  });
});
