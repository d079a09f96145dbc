import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMappedIpv4 } from '../addresses/mapped-ipv4.ts';
import { type NetworkTables, networkFile, readNetworkFile } from './network-file.ts';

/** Autonomous systems by address. */
export type Networks = {
  /** Returns the number of an address's autonomous system: 16 bytes, IPv4 mapped into IPv6. 0 when unknown. */
  asnOf(address: Uint8Array): number;
  /** Returns whether all addresses of this one's network, a /24 of IPv4 or a /48 of IPv6, have the same number. */
  isUniform(address: Uint8Array): boolean;
};

export type OpenedNetworks = Networks & {
  /** Load time in milliseconds, and bytes of the tables in memory (outside the heap). */
  readonly loadMs: number;
  readonly bytes: number;
};

/** Ranges of addresses, ascending. Each begins at its key and ends before the next; unannounced ones have 0. */
export type NetworkTable = { keys: Uint32Array | Float64Array; asn: Uint32Array };

type Range = { first: number; last: number; asn: number };

const CHUNK_BYTES = 1 << 16;
/** A lower bound for the length of a line in the package's files. */
const LEAST_LINE_BYTES = 10;
const LINE_FEED = 10;
const COMMA = 44;
/** IPv6 is looked up by its first 48 bits: longer prefixes are not announced to the whole Internet. */
const V6_KEY_SHIFT = 80n;

/** File of the tables, which `npm run build` writes. */
export const NETWORK_FILE = fileURLToPath(new URL('../../dist/networks.bin', import.meta.url));

/**
 * Opens the tables of autonomous systems of `@ip-location-db/asn`: about 5 MB of memory. From the file that the build
 * writes, or else from the package's own files, in half a second. Only workers need them.
 *
 * @throws Error when a file of the package is missing or malformed
 */
export function openNetworks(built = NETWORK_FILE): OpenedNetworks {
  const started = performance.now();
  const source = packagePaths();
  const { v4, v6 } = readNetworkFile(built, source.version) ?? readTables(source);
  return {
    ...createNetworks(v4, v6),
    loadMs: Math.round(performance.now() - started),
    bytes: [v4, v6].reduce((sum, { keys, asn }) => sum + keys.byteLength + asn.byteLength, 0),
  };
}

/** Returns the content of {@link NETWORK_FILE}; null when the file already matches the installed package. */
export function newNetworkFile(built = NETWORK_FILE): Uint8Array<ArrayBuffer> | null {
  const source = packagePaths();
  if (readNetworkFile(built, source.version) !== null) return null;
  return networkFile(readTables(source), source.version);
}

type PackagePaths = { v4: string; v6: string; version: string };

function packagePaths(): PackagePaths {
  const manifest = createRequire(import.meta.url).resolve('@ip-location-db/asn/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  const tableOf = (family: 4 | 6) => join(dirname(manifest), `asn-ipv${family}-num.csv`);
  return { v4: tableOf(4), v6: tableOf(6), version };
}

function readTables({ v4, v6 }: PackagePaths): NetworkTables {
  const v6Key = (line: Buffer, from: number, to: number) =>
    Number(BigInt(line.toString('latin1', from, to)) >> V6_KEY_SHIFT);
  return {
    v4: networkTable(rangesOf(v4, decimal), Uint32Array, mostRanges(v4)),
    v6: networkTable(rangesOf(v6, v6Key), Float64Array, mostRanges(v6)),
  };
}

/** Returns a source that knows no autonomous system. */
export function noNetworks(): Networks {
  return { asnOf: () => 0, isUniform: () => true };
}

/** Creates the lookup over the tables of both address families. */
export function createNetworks(v4: NetworkTable, v6: NetworkTable): Networks {
  return {
    asnOf(address) {
      const mapped = isMappedIpv4(address);
      const { asn } = mapped ? v4 : v6;
      return asn[mapped ? find(v4, number(address, 12, 4)) : find(v6, number(address, 0, 6))] ?? 0;
    },
    // Keys of IPv6 are whole /48 networks.
    isUniform(address) {
      if (!isMappedIpv4(address)) return true;
      const first = number(address, 12, 3) * 256;
      return find(v4, first) === find(v4, first + 255);
    },
  };
}

function mostRanges(path: string): number {
  return Math.ceil(statSync(path).size / LEAST_LINE_BYTES);
}

/**
 * Returns the table of ascending ranges. When two overlap, the first one counts.
 *
 * @param most at least the number of ranges. The system allocates only the used part of the table; a growing table
 * would leave its former copies in the process's memory.
 */
export function networkTable(
  ranges: Iterable<Range>,
  Keys: Uint32ArrayConstructor | Float64ArrayConstructor,
  most: number,
): NetworkTable {
  // Each range may follow a gap, and a gap follows the last one.
  const keys = new Keys(2 * most + 2);
  const asn = new Uint32Array(2 * most + 2);
  let size = 1;
  let next = 0;
  for (const range of ranges) {
    const first = Math.max(range.first, next);
    if (range.last < first) continue;
    if (first > next) add(next, 0);
    add(first, range.asn);
    next = range.last + 1;
  }
  if (next < (Keys === Uint32Array ? 2 ** 32 : 2 ** 48)) add(next, 0);
  return { keys: keys.subarray(0, size), asn: asn.subarray(0, size) };

  function add(key: number, owner: number): void {
    if (key === keys[size - 1]) asn[size - 1] = owner;
    else if (owner !== asn[size - 1]) {
      keys[size] = key;
      asn[size++] = owner;
    }
  }
}

/**
 * Reads `first,last,asn,name` of each line. It reads pieces of bytes: the files have 21 and 11 MB, and their text would
 * stay in the process's memory.
 */
function* rangesOf(path: string, keyOf: typeof decimal): Iterable<Range> {
  const file = openSync(path, 'r');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const range = { first: 0, last: 0, asn: 0 };
  let held = 0;
  try {
    for (;;) {
      const read = readSync(file, chunk, held, CHUNK_BYTES - held, null);
      const end = chunk.subarray(0, held + read).lastIndexOf(LINE_FEED) + 1;
      if (end === 0) break;
      for (let line = 0; line < end; line = chunk.indexOf(LINE_FEED, line) + 1) {
        const second = chunk.indexOf(COMMA, line) + 1;
        const third = chunk.indexOf(COMMA, second) + 1;
        range.first = keyOf(chunk, line, second - 1);
        range.last = keyOf(chunk, second, third - 1);
        range.asn = decimal(chunk, third, chunk.indexOf(COMMA, third));
        if (!(range.first <= range.last && range.asn > 0))
          throw new Error(
            `${path}: malformed line: ${chunk.toString('utf8', line, chunk.indexOf(LINE_FEED, line))}`,
          );
        yield range;
      }
      chunk.copyWithin(0, end, held + read);
      held = held + read - end;
    }
    if (held > 0) throw new Error(`${path}: its last line has no line feed`);
  } finally {
    closeSync(file);
  }
}

/** Returns the number whose decimal digits are from one offset up to another; NaN if there are none. */
function decimal(bytes: Buffer, from: number, to: number): number {
  let value = from < to ? 0 : Number.NaN;
  for (let at = from; at < to; at += 1) {
    const digit = bytes[at] ?? 0;
    value = digit >= 48 && digit < 58 ? value * 10 + digit - 48 : Number.NaN;
  }
  return value;
}

/** Returns the index of the range with the key. */
function find({ keys }: NetworkTable, key: number): number {
  let [low, high] = [0, keys.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((keys[middle] ?? 0) <= key) low = middle;
    else high = middle - 1;
  }
  return low;
}

function number(address: Uint8Array, from: number, bytes: number): number {
  let value = 0;
  for (let at = from; at < from + bytes; at++) value = value * 256 + (address[at] ?? 0);
  return value;
}
