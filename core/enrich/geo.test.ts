import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGeo, emptyGeo, type OpenedGeo, openGeo, type Place } from './geo.ts';
import { createNetworks, networkTable } from './networks.ts';
import { regionsOf } from './region-codes.ts';

const UNKNOWN = { country: '', city: '', continent: '', region: '' };
const NOWHERE = { ...UNKNOWN, asn: 0 };

let geo: OpenedGeo;
beforeAll(() => {
  geo = openGeo({ capacity: 1_000 });
});
afterAll(() => geo.close());

function v4(text: string): Uint8Array {
  return Uint8Array.from([...new Array(10).fill(0), 255, 255, ...text.split('.').map(Number)]);
}

function v6(groups: string): Uint8Array {
  return Uint8Array.from(Buffer.from(groups.replaceAll(':', ''), 'hex'));
}

describe('the place of an address', () => {
  test('is a country code and an English city, for IPv4 and IPv6', () => {
    expect(geo.placeOf(v4('81.2.69.142'))).toEqual({
      country: 'GB',
      city: 'London',
      continent: 'EU',
      region: 'GB-ENG',
      asn: 0,
    });
    expect(geo.placeOf(v6('2a02:02e0:03fe:1001:0302:0000:0000:0000')).country).toBe('DE');
    expect(geo.placeOf(v6('2a02:02e0:03fe:1001:0302:0000:0000:0000')).city).toMatch(/^Hanover/);
  });

  test('has no district in parentheses, in any network', () => {
    const cities = new Set<string>();
    for (let net = 0; net < 65_536; net++)
      cities.add(geo.placeOf(v4(`${net >> 8}.${net & 255}.${net % 251}.9`)).city);
    expect(cities.size).toBeGreaterThan(1_000);
    expect([...cities].filter((city) => /[()]|^\s|\s$/.test(city))).toEqual([]);
  });

  test('has the ISO 3166-2 code of nearly every region that the file names', () => {
    const places: Place[] = [];
    for (let net = 0; net < 65_536; net++)
      places.push(geo.placeOf(v4(`${net >> 8}.${net & 255}.${net % 251}.9`)));
    const known = places.filter(({ country }) => country !== '');
    const coded = known.filter(({ region }) => region !== '');
    expect(coded.length / known.length).toBeGreaterThan(0.95);
    expect(
      coded.filter(({ country, region }) => !new RegExp(`^${country}-[A-Z0-9]{1,3}$`).test(region)),
    ).toEqual([]);
    expect(coded.filter(({ country, region }) => !regionsOf(country).includes(region))).toEqual([]);
    const regionOf = (city: string) => places.find((place) => place.city === city)?.region;
    expect(regionOf('Berlin')).toBe('DE-BE');
    expect(regionOf('Munich')).toBe('DE-BY');
    expect(regionOf('Prague')).toBe('CZ-10');
    expect(regionOf('Tehran')).toBe('IR-23');
    expect(regionOf('Oslo')).toBe('NO-03');
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.1',
    '172.16.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
  ])('is unknown for %s', (ip) => {
    expect(geo.placeOf(v4(ip))).toEqual(NOWHERE);
  });

  test.each([
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '0000:0000:0000:0000:0000:0000:0000:0000',
    'fe80:0000:0000:0000:0000:0000:0000:0001',
    'fd00:0000:0000:0000:0000:0000:0000:0001',
  ])('is unknown for %s', (ip) => {
    expect(geo.placeOf(v6(ip))).toEqual(NOWHERE);
  });

  test('is the same the second time and after the cache was replaced', () => {
    const before = geo.placeOf(v4('81.2.69.142'));
    for (let net = 0; net < 3_000; net++) geo.placeOf(v4(`${(net % 200) + 1}.${net % 256}.${net % 7}.1`));
    expect(geo.placeOf(v4('81.2.69.142'))).toEqual(before);
  });

  test('is always unknown without the files', () => {
    expect(emptyGeo().placeOf(v4('81.2.69.142'))).toEqual(NOWHERE);
  });
});

test('a network that the file splits more finely than the cache is not cached as one', () => {
  const asked: Uint8Array[] = [];
  const file = {
    look(address: Uint8Array) {
      asked.push(address);
      const upper = (address[15] ?? 0) >= 128;
      return { city: { ...UNKNOWN, country: upper ? 'FR' : 'BE' }, prefix: 25 };
    },
  };
  const split = createGeo(file, file, 100);
  expect(split.placeOf(v4('9.9.9.1')).country).toBe('BE');
  expect(split.placeOf(v4('9.9.9.200')).country).toBe('FR');
  expect(split.placeOf(v4('9.9.9.1')).country).toBe('BE');
  expect(asked).toHaveLength(3);
});

test('one look-up serves its whole network, and the address families are kept apart', () => {
  let asked = 0;
  const file = (country: string, prefix: number) => ({
    look() {
      asked += 1;
      return { city: { ...UNKNOWN, country }, prefix };
    },
  });
  const two = createGeo(file('BE', 20), file('FR', 48), 100);
  expect(two.placeOf(v4('0.0.1.1')).country).toBe('BE');
  expect(two.placeOf(v4('0.0.1.77')).country).toBe('BE');
  expect(two.placeOf(v6('0000:0000:0001:0000:0000:0000:0000:0000')).country).toBe('FR');
  expect(two.placeOf(v6('0000:0000:0001:ffff:0000:0000:0000:0009')).country).toBe('FR');
  expect(asked).toBe(2);
});

test('a network of several autonomous systems is not cached as one, and equal places are one object', () => {
  const file = { look: () => ({ city: { ...UNKNOWN, country: 'BE' }, prefix: 16 }) };
  const ranges = [
    { first: 0x0909_0000, last: 0x0909_097f, asn: 7 },
    { first: 0x0909_0980, last: 0x0909_ffff, asn: 8 },
  ];
  const systems = networkTable(ranges, Uint32Array, ranges.length);
  const networks = createNetworks(systems, networkTable([], Float64Array, 0));
  const { placeOf } = createGeo(file, file, 100, networks);
  const found = ['9.9.8.1', '9.9.9.1', '9.9.9.200', '9.9.9.1', '9.9.10.1'].map((ip) => placeOf(v4(ip)));
  expect(found.map(({ asn }) => asn)).toEqual([7, 7, 8, 7, 8]);
  expect(found[1]).toBe(found[0]);
  expect(found[4]).toBe(found[2]);
});
