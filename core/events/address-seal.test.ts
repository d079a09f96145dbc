import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyAddress } from '../../test/support/any-clicks.ts';
import { createAddressSealer, openAddress, sealAddress } from './address-seal.ts';

const stream = '01900000-0000-7000-8000-000000000001';
const other = '01900000-0000-7000-8000-000000000002';
const sealer = createAddressSealer(Buffer.alloc(32, 1));

describe('address pads', () => {
  test('seal any address and open it again', () => {
    const pads = sealer.pads(stream, 77n, 3);
    fc.assert(
      fc.property(anyAddress, fc.nat({ max: 2 }), (address, at) => {
        const [sealed] = Object.values(sealAddress(address, pads, at * 16));
        expect(Buffer.from(address).includes(sealed as Buffer)).toBe(false);
        expect(openAddress(sealAddress(address, pads, at * 16), pads, at * 16)).toEqual(Buffer.from(address));
      }),
    );
  });

  test('an IPv4 address has four bytes in the log, any other sixteen', () => {
    const pads = sealer.pads(stream, 77n, 1);
    const bytesOf = (hex: string) => Object.values(sealAddress(Buffer.from(hex, 'hex'), pads, 0))[0]?.length;
    expect(bytesOf('00000000000000000000ffffc0000217')).toBe(4);
    expect(bytesOf('00000000000000000000fffec0000217')).toBe(16);
    expect(bytesOf('20010db8000000000000000000000001')).toBe(16);
  });

  test('are the same for a sequence, however many are made at a time', () => {
    const first = (0xff_ffffn << 40n) | 0xff_ffff_fff0n;
    const many = sealer.pads(stream, first, 10);
    for (let i = 0; i < 10; i++) {
      expect(sealer.pads(stream, first + BigInt(i), 1)).toEqual(many.subarray(i * 16, i * 16 + 16));
    }
  });

  test('differ between sequences, streams and keys', () => {
    const pads = [
      sealer.pads(stream, 1n, 1),
      sealer.pads(stream, 2n, 1),
      sealer.pads(stream, 1n << 40n, 1),
      sealer.pads(other, 1n, 1),
      createAddressSealer(Buffer.alloc(32, 2)).pads(stream, 1n, 1),
    ];
    expect(new Set(pads.map((pad) => pad.toString('hex'))).size).toBe(pads.length);
  });

  test('require a key of 32 bytes', () => {
    expect(() => createAddressSealer(Buffer.alloc(31))).toThrow('must have 32 bytes, not 31');
  });
});
