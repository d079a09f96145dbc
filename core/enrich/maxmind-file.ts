import { openPagedFile, type PagedFile } from './paged-file.ts';

/** A value of a record. */
export type Value = string | number | boolean | Value[] | { [key: string]: Value };

/** A file of records by network, as of https://maxmind.github.io/MaxMind-DB/. */
export type MaxMindFile = {
  /** Bits of its addresses: 32 or 128. */
  readonly addressBits: number;
  /** Bytes of the file. */
  readonly bytes: number;
  /**
   * Finds the network of an address.
   *
   * @param address bytes of which the last `addressBits` count
   * @returns the place of its record, 0 if it has none, and the bits of the prefix
   */
  find(address: Uint8Array): { at: number; prefix: number };
  /** Returns the record at a place. @throws Error when it is malformed */
  recordAt(at: number): Value;
  close(): void;
};

/** 8 MiB of each file in memory. A page of 4 KiB is read in a microsecond. */
const PAGES = { pageBytes: 4_096, pages: 2_048 };
/** Begins the metadata, in the last bytes of the file. */
const METADATA_MARK = '\xab\xcd\xefMaxMind.com';
const METADATA_BYTES = 131_072;
/** Zeros between the search tree and the records. */
const SEPARATOR_BYTES = 16;
/** Added to a pointer, by its size. */
const POINTER_BASE = [0, 2_048, 526_336, 0];
/** Maximum depth of nested values. */
const DEEPEST = 16;

/**
 * Opens a file. Only the pages that are used are in memory.
 *
 * @param limits for tests: another page size, and number of pages in memory
 * @throws Error when it cannot be read, or is not of this format
 */
export function openMaxMindFile(path: string, limits = PAGES): MaxMindFile {
  const file = openPagedFile(path, limits);
  try {
    return { ...maxMindFile(file, path), close: file.close };
  } catch (error) {
    file.close();
    throw error;
  }
}

function maxMindFile(file: PagedFile, path: string): Omit<MaxMindFile, 'close'> {
  const metadata = metadataOf(file, path);
  const figure = (name: string): number => {
    const value = metadata[name];
    if (typeof value !== 'number') throw new Error(`${path}: its metadata lacks \`${name}\``);
    return value;
  };
  const nodes = figure('node_count');
  const recordBits = figure('record_size');
  const addressBits = figure('ip_version') === 4 ? 32 : 128;
  if (![24, 28, 32].includes(recordBits)) throw new Error(`${path}: unknown record size ${recordBits}`);
  const nodeBytes = recordBits / 4;
  const data = nodes * nodeBytes + SEPARATOR_BYTES;

  function childOf(node: number, bit: number): number {
    const offset = node * nodeBytes;
    const page = file.pageAt(offset);
    const at = offset % file.pageBytes;
    if (recordBits === 24) return page.readUIntBE(at + bit * 3, 3);
    if (recordBits === 32) return page.readUInt32BE(at + bit * 4);
    const shared = page[at + 3] ?? 0;
    return bit === 0
      ? ((shared & 0xf0) << 20) | page.readUIntBE(at, 3)
      : ((shared & 0x0f) << 24) | page.readUIntBE(at + 4, 3);
  }

  return {
    addressBits,
    bytes: file.bytes,
    find(address) {
      const from = address.length * 8 - addressBits;
      let node = 0;
      let prefix = 0;
      while (node < nodes && prefix < addressBits) {
        const position = from + prefix;
        const bit = ((address[position >> 3] ?? 0) >> (7 - (position & 7))) & 1;
        node = childOf(node, bit);
        prefix += 1;
      }
      // A node equal to the number of nodes means no record; a larger one is an offset after the tree.
      return { at: node > nodes ? node - nodes + data - SEPARATOR_BYTES : 0, prefix };
    },
    recordAt: (at) => decode({ file, base: data }, at, 0).value,
  };
}

function metadataOf(file: PagedFile, path: string): { [key: string]: Value } {
  const from = Math.max(0, file.bytes - METADATA_BYTES);
  const tail = file.bytesAt(from, file.bytes - from);
  const mark = tail.lastIndexOf(METADATA_MARK, undefined, 'latin1');
  if (mark < 0) throw new Error(`${path} is not a MaxMind database`);
  const at = from + mark + METADATA_MARK.length;
  const { value } = decode({ file, base: at }, at, 0);
  if (typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${path}: its metadata is not a map`);
  return value;
}

/** Pointers count from `base`. */
type Section = { file: PagedFile; base: number };
type Decoded = { value: Value; next: number };

function decode(section: Section, start: number, depth: number): Decoded {
  const { file } = section;
  if (depth > DEEPEST) throw new Error('a record of the MaxMind database is nested too deeply');
  const control = file.byteAt(start);
  let at = start + 1;
  let type = control >> 5;
  if (type === 1) {
    const size = (control >> 3) & 3;
    // A pointer of the largest size has all of its bits in the following bytes.
    const high = size === 3 ? 0 : control & 7;
    const target = section.base + (POINTER_BASE[size] ?? 0) + unsigned(file, at, size + 1, high);
    return { value: decode(section, target, depth + 1).value, next: at + size + 1 };
  }
  if (type === 0) type = file.byteAt(at++) + 7;
  let size = control & 0x1f;
  if (size >= 29) {
    const more = size - 28;
    size = unsigned(file, at, more) + ([29, 285, 65_821][more - 1] ?? 0);
    at += more;
  }
  switch (type) {
    case 2:
      return { value: file.bytesAt(at, size).toString('utf8'), next: at + size };
    case 3:
    case 15: {
      const bytes = file.bytesAt(at, size);
      return { value: type === 3 ? bytes.readDoubleBE() : bytes.readFloatBE(), next: at + size };
    }
    case 5:
    case 6:
    case 9:
      return { value: unsigned(file, at, size), next: at + size };
    case 7:
    case 11:
      return type === 7 ? map(section, at, size, depth) : list(section, at, size, depth);
    case 14:
      return { value: size !== 0, next: at };
    default:
      throw new Error(`the MaxMind database has a value of type ${type} at ${start}`);
  }
}

function map(section: Section, from: number, size: number, depth: number): Decoded {
  const value: { [key: string]: Value } = {};
  let next = from;
  for (let entry = 0; entry < size; entry += 1) {
    const key = decode(section, next, depth + 1);
    const field = decode(section, key.next, depth + 1);
    value[String(key.value)] = field.value;
    next = field.next;
  }
  return { value, next };
}

function list(section: Section, from: number, size: number, depth: number): Decoded {
  const value: Value[] = [];
  let next = from;
  for (let entry = 0; entry < size; entry += 1) {
    const one = decode(section, next, depth + 1);
    value.push(one.value);
    next = one.next;
  }
  return { value, next };
}

function unsigned(file: PagedFile, at: number, bytes: number, high = 0): number {
  let value = high;
  for (let byte = 0; byte < bytes; byte += 1) value = value * 256 + file.byteAt(at + byte);
  return value;
}
