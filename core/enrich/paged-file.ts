import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A file of which only the pages that are used are in memory. */
export type PagedFile = {
  readonly bytes: number;
  readonly pageBytes: number;
  /** Returns the byte at an offset. @throws RangeError outside the file */
  byteAt(offset: number): number;
  /**
   * Returns bytes that contain the one at an offset, and {@link SPARE_BYTES} after it if the file is that long. The
   * offset in them is `offset % pageBytes`.
   */
  pageAt(offset: number): Buffer;
  /** Returns a copy of some bytes. */
  bytesAt(offset: number, length: number): Buffer;
  close(): void;
};

/** A page also has the first bytes of the next one, so that no short field is split. */
const SPARE_BYTES = 8;

/**
 * Opens a file for random reads. The system caches what was read, outside this process, and drops it when memory is
 * short; a read from its cache takes about a microsecond.
 *
 * @param limits page size, and the number of pages in memory, after which the oldest one is replaced
 * @throws Error when the file cannot be read
 */
export function openPagedFile(path: string, limits: { pageBytes: number; pages: number }): PagedFile {
  const { pageBytes, pages: most } = limits;
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  const pages: (Buffer | undefined)[] = new Array(Math.ceil(size / pageBytes)).fill(undefined);
  /** Numbers of the pages in memory, a ring. */
  const held: number[] = [];
  let oldest = 0;

  function read(page: number): Buffer {
    if (!(page >= 0 && page < pages.length)) throw new RangeError(`${path} has no page ${page}`);
    let buffer: Buffer | undefined;
    if (held.length < most) {
      held.push(page);
    } else {
      const replaced = held[oldest] ?? 0;
      buffer = pages[replaced];
      pages[replaced] = undefined;
      held[oldest] = page;
      oldest = (oldest + 1) % most;
    }
    buffer ??= Buffer.allocUnsafeSlow(pageBytes + SPARE_BYTES);
    const got = readSync(file, buffer, 0, buffer.length, page * pageBytes);
    // Clears the rest of the buffer: otherwise bytes of the former page would follow the end of the file.
    buffer.fill(0, got);
    pages[page] = buffer;
    return buffer;
  }

  const pageAt = (offset: number): Buffer => {
    const page = Math.floor(offset / pageBytes);
    return pages[page] ?? read(page);
  };
  const byteAt = (offset: number): number => pageAt(offset)[offset % pageBytes] ?? 0;

  return {
    bytes: size,
    pageBytes,
    byteAt,
    pageAt,
    bytesAt(offset, length) {
      const copy = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; ) {
        const from = (offset + at) % pageBytes;
        at += pageAt(offset + at).copy(copy, at, from, Math.min(pageBytes, from + length - at));
      }
      return copy;
    },
    close: () => closeSync(file),
  };
}
