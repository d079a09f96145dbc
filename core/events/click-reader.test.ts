import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyClick } from '../../test/support/any-clicks.ts';
import { openAddress, type SealedAddress } from './address-seal.ts';
import { CLICK_BODY_VERSION, writeClickBody } from './click-body.ts';
import { readClickBody } from './click-reader.ts';
import { KIND_CODES, releasedRegistry } from './schema-registry.ts';
import type { ClickEvent } from './types.ts';

const registered = releasedRegistry().reader(KIND_CODES.click, CLICK_BODY_VERSION);
if (typeof registered === 'string') throw new Error(registered);
const byAvsc = registered.read;

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.constantFrom('', 'twitter', 'é'.repeat(40), 'x'.repeat(5_000)),
);
const clicks = anyClick(text);
const times = fc.integer({ min: 0, max: 2 ** 52 - 1 });
const PADS = Buffer.from(Array.from({ length: 16 }, (_, index) => index * 11));

function fieldsOf(click: Omit<ClickEvent, 'kind'>) {
  const { ts, channel, referer, userAgent, language, flags } = click;
  const bytes = [click.workspaceId, click.linkId, click.visitorId, click.address];
  return {
    ts,
    channel,
    referer,
    userAgent,
    language,
    labels: { ...click.labels },
    flags,
    bytes: bytes.map((one) => Buffer.from(one).toString('hex')),
  };
}

function avscFields(value: unknown) {
  const read = value as Omit<ClickEvent, 'kind' | 'address'> & { address: SealedAddress };
  return fieldsOf({ ...read, address: openAddress(read.address, PADS, 0) });
}

function written(click: Parameters<typeof writeClickBody>[0], ts: number): Buffer {
  const buffer = Buffer.alloc(80_000);
  return buffer.subarray(0, writeClickBody(click, ts, PADS, 0, buffer, 0));
}

test('reads any click as avsc does', () => {
  fc.assert(
    fc.property(clicks, times, fc.nat({ max: 9 }), (click, ts, before) => {
      const body = written(click, ts);
      const bytes = Buffer.concat([Buffer.alloc(before, 0xee), body, Buffer.alloc(3, 0xee)]);
      const read = readClickBody(bytes, before, before + body.length, PADS, 0);
      expect(read && fieldsOf(read)).toEqual(avscFields(byAvsc(body, 0).value));
    }),
    { numRuns: 500 },
  );
});

test('leaves damaged bytes to avsc, or reads them as avsc does', () => {
  let [read, left] = [0, 0];
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(clicks, times, changes, fc.integer({ min: -20, max: 20 }), (click, ts, damage, moved) => {
      const body = Buffer.concat([written(click, ts), Buffer.alloc(20)]);
      for (const [place, value] of damage) body[place % 80] = value;
      const end = body.length - 20 + moved;
      const found = readClickBody(body, 0, end, PADS, 0);
      if (found === null) {
        left += 1;
        return;
      }
      read += 1;
      const peer = byAvsc(body, 0);
      expect(peer.end).toBe(end);
      expect(fieldsOf(found)).toEqual(avscFields(peer.value));
    }),
    { numRuns: 2_000 },
  );
  expect(read).toBeGreaterThan(0);
  expect(left).toBeGreaterThan(0);
});
