/**
 * Variable-length records in a few large buffers outside the heap: a million of them cost their own bytes and no
 * garbage collection. A record occupies a block of a multiple of 16 bytes; a freed block is reused by the next record
 * of its size.
 *
 * A block starts with 8 bytes: `u16 size in units | u8 mark | u8 0 | u32 record length`, length 0 when free. A
 * reference is the block's address in units; 0 is never one.
 */
export type Arena = {
  /**
   * Copies a record in and returns its reference.
   *
   * @throws {RangeError} when it is empty or larger than {@link LARGEST_RECORD}
   */
  put(record: Uint8Array, mark: number): number;
  /** Returns the record itself, not a copy: valid until the block is freed. */
  read(ref: number): Buffer;
  markOf(ref: number): number;
  setMark(ref: number, mark: number): void;
  free(ref: number): void;
  /** Iterates the live records in order of address. Changes between two of them are safe. */
  refs(): Generator<number>;
  /**
   * Returns the live record after `ref` in order of address, after the last one the first; 0 when there is none.
   *
   * @param ref address of a live or freed block; 0: the beginning
   */
  after(ref: number): number;
  /** Bytes of all buffers. */
  bytes(): number;
};

const UNIT = 16;
const HEADER = 8;
const PAGE_BYTES = 2 ** 20;
const PAGE_UNITS = PAGE_BYTES / UNIT;

/**
 * Bytes of the largest record, which fits the largest block of the header. The largest bio page of the API, 50
 * buttons of two addresses each, has 0.4 MiB (`../bio/bio.test.ts`).
 */
export const LARGEST_RECORD = (2 ** 16 - 1) * UNIT - HEADER;

export function createArena(): Arena {
  const pages: Buffer[] = [];
  const free = new Map<number, number[]>();
  /** First free unit of the last page; unit 0 of page 0 stays empty. */
  let top = PAGE_UNITS;

  function pageOf(ref: number): Buffer {
    const page = pages[Math.floor(ref / PAGE_UNITS)];
    if (page === undefined) throw new RangeError(`reference ${ref} is outside the arena`);
    return page;
  }
  const offsetOf = (ref: number) => (ref % PAGE_UNITS) * UNIT;

  function take(units: number): number {
    const reused = free.get(units)?.pop();
    if (reused !== undefined) return reused;
    if (top + units > PAGE_UNITS) {
      pages.push(Buffer.alloc(PAGE_BYTES));
      top = pages.length === 1 ? 1 : 0;
    }
    const ref = (pages.length - 1) * PAGE_UNITS + top;
    top += units;
    return ref;
  }

  /** Returns the first live record of a page at or after `unit`, 0 when there is none. */
  function liveFrom(number: number, unit: number): number {
    const page = pages[number];
    while (page !== undefined && unit < PAGE_UNITS) {
      const units = page.readUInt16LE(unit * UNIT);
      if (units === 0) break;
      if (page.readUInt32LE(unit * UNIT + 4) !== 0) return number * PAGE_UNITS + unit;
      unit += units;
    }
    return 0;
  }
  /** Returns the live record after `ref` up to the arena's end, 0 when there is none. */
  function following(ref: number): number {
    let number = Math.floor(ref / PAGE_UNITS);
    let unit = ref === 0 ? 1 : (ref % PAGE_UNITS) + pageOf(ref).readUInt16LE(offsetOf(ref));
    for (; number < pages.length; number++) {
      const found = liveFrom(number, unit);
      if (found !== 0) return found;
      unit = 0;
    }
    return 0;
  }

  return {
    put(record, mark) {
      if (record.length === 0 || record.length > LARGEST_RECORD) {
        throw new RangeError(`a record has 1 to ${LARGEST_RECORD} bytes, not ${record.length}`);
      }
      const units = Math.ceil((HEADER + record.length) / UNIT);
      const ref = take(units);
      const page = pageOf(ref);
      const at = offsetOf(ref);
      page.writeUInt16LE(units, at);
      page[at + 2] = mark;
      page.writeUInt32LE(record.length, at + 4);
      page.set(record, at + HEADER);
      return ref;
    },
    read(ref) {
      const page = pageOf(ref);
      const at = offsetOf(ref);
      return page.subarray(at + HEADER, at + HEADER + page.readUInt32LE(at + 4));
    },
    markOf: (ref) => pageOf(ref)[offsetOf(ref) + 2] ?? 0,
    setMark(ref, mark) {
      pageOf(ref)[offsetOf(ref) + 2] = mark;
    },
    free(ref) {
      const page = pageOf(ref);
      const at = offsetOf(ref);
      const units = page.readUInt16LE(at);
      page.writeUInt32LE(0, at + 4);
      const blocks = free.get(units);
      if (blocks === undefined) free.set(units, [ref]);
      else blocks.push(ref);
    },
    *refs() {
      for (let ref = following(0); ref !== 0; ref = following(ref)) yield ref;
    },
    after: (ref) => following(ref) || following(0),
    bytes: () => pages.length * PAGE_BYTES,
  };
}
