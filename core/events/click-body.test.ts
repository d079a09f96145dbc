import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyClick } from '../../test/support/any-clicks.ts';
import { codePoint } from '../../test/support/code-point.ts';
import { sealAddress } from './address-seal.ts';
import { CLICK_BODY_VERSION, writeClickBody } from './click-body.ts';
import { NO_LABELS, SharedLabels } from './click-labels.ts';
import { releasedRegistry } from './schema-registry.ts';
import type { ClickEvent, Unstamped } from './types.ts';

const { type, version } = releasedRegistry().current('click');

const text = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 300 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
  fc.integer({ min: 0, max: 9_000 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom('é'.repeat(21), '€'.repeat(21), '€'.repeat(22), '€'.repeat(2_730), '€'.repeat(2_731)),
  fc.constantFrom('é'.repeat(31), 'é'.repeat(32), 'x'.repeat(63), 'x'.repeat(64), '€'.repeat(63)),
  fc.constantFrom('\ud800', `lone \udc00 ${'y'.repeat(70)}`),
);
const click = anyClick(text);
const times = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 52 - 1 }),
  fc.constantFrom(0, 63, 64, 2 ** 27 - 1, 2 ** 27, 2 ** 27 + 1, 2 ** 34, 1_795_000_000_000_000),
);

function byAvsc(event: Unstamped<ClickEvent>, ts: number, pads: Uint8Array, padAt: number): Buffer {
  const address = sealAddress(event.address, pads, padAt);
  const { workspaceId, linkId, visitorId } = event;
  return type.toBuffer({
    ...event,
    ts,
    // avsc passes lone surrogates on, which are not valid UTF-8.
    labels: Object.fromEntries(
      Object.entries(event.labels).map(([name, value]) => [name, value.toWellFormed()]),
    ),
    language: event.language.toWellFormed(),
    channel: event.channel.toWellFormed(),
    referer: event.referer.toWellFormed(),
    userAgent: event.userAgent.toWellFormed(),
    workspaceId: Buffer.from(workspaceId),
    linkId: Buffer.from(linkId),
    visitorId: Buffer.from(visitorId),
    address,
    ad: event.ad && { param: event.ad.param.toWellFormed(), id: event.ad.id.toWellFormed() },
  });
}

test('writes what avsc writes with the schema, for any click, and a lone surrogate as U+FFFD', () => {
  expect(version).toBe(CLICK_BODY_VERSION);
  const pads = Buffer.from(Array.from({ length: 48 }, (_, index) => index * 5));
  const buffer = Buffer.alloc(400_000);
  fc.assert(
    fc.property(click, times, fc.integer({ min: 0, max: 32 }), (event, ts, padAt) => {
      const end = writeClickBody(event, ts, pads, padAt, buffer, 7);
      expect(buffer.subarray(7, end).equals(byAvsc(event, ts, pads, padAt))).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('labels that many clicks share are written as any others, also with another link or channel', () => {
  const pads = Buffer.alloc(16, 3);
  fc.assert(
    fc.property(click, click, times, ({ labels, ...one }, other, ts) => {
      const shared = new SharedLabels(labels);
      const { workspaceId, linkId, channel } = other;
      const changes = [{}, {}, { channel }, {}, { linkId }, { workspaceId, linkId }, { workspaceId }];
      for (const change of changes) {
        const event = { ...one, ...change };
        const buffer = Buffer.alloc(200_000);
        const end = writeClickBody({ ...event, labels: shared }, ts, pads, 0, buffer, 0);
        expect(buffer.subarray(0, end).equals(byAvsc({ ...event, labels }, ts, pads, 0))).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});

test('a buffer that is just long enough is filled, a shorter one is not', () => {
  const pads = Buffer.alloc(16, 3);
  fc.assert(
    fc.property(click, times, (event, ts) => {
      const bytes = byAvsc(event, ts, pads, 0);
      const exact = Buffer.alloc(bytes.length);
      expect(writeClickBody(event, ts, pads, 0, exact, 0)).toBe(bytes.length);
      expect(exact.equals(bytes)).toBe(true);
      expect(writeClickBody(event, ts, pads, 0, Buffer.alloc(bytes.length - 1), 0)).toBe(-1);
    }),
    { numRuns: 300 },
  );
});

test('rejects values that its fields cannot hold', () => {
  const bytes = new Uint8Array(16);
  const right = {
    kind: 'click',
    workspaceId: bytes,
    linkId: bytes,
    visitorId: bytes,
    address: bytes,
  } as const;
  const event = {
    ...right,
    labels: NO_LABELS,
    channel: 'x',
    referer: '',
    userAgent: '',
    language: '',
    flags: 0,
    ad: null,
  };
  const wrong: [object, number][] = [
    [{ ...event, workspaceId: bytes.subarray(1) }, 5],
    [{ ...event, visitorId: new Uint8Array(17) }, 5],
    [{ ...event, address: new Uint8Array(4) }, 5],
    [{ ...event, channel: null }, 5],
    [{ ...event, language: 7 }, 5],
    [{ ...event, labels: { ...NO_LABELS, slug: null } }, 5],
    [{ ...event, ad: { param: 'gclid', id: 7 } }, 5],
    [{ ...event, flags: 64 }, 5],
    [{ ...event, flags: 0.5 }, 5],
    [event, 1.5],
    [event, -1],
  ];
  for (const [one, ts] of wrong) {
    expect(() => writeClickBody(one as Unstamped<ClickEvent>, ts, bytes, 0, Buffer.alloc(1_000), 0)).toThrow(
      TypeError,
    );
  }
});
