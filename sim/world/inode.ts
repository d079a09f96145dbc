import type { Random } from './random.ts';

export const PAGE_BYTES = 4096;
/** A disk writes whole sectors; a page that is cut off in the middle is torn between two. */
const SECTOR_BYTES = 512;

/** Pages as they were when a sync began. */
export type Pages = { bytes: ReadonlyMap<number, Uint8Array>; version: number };

/** One file or directory: what processes see of it, and what a power cut would leave. */
export class Inode {
  readonly number: number;
  readonly kind: 'file' | 'directory';
  modifiedAt: number;
  size = 0;
  /** Whether the size has changed since it was made durable. */
  hasNewSize = false;
  #bytes = Buffer.alloc(0);
  readonly #durable = new Map<number, Uint8Array>();
  /** Of each durable page: a sync that began earlier, and ends later, has older bytes. */
  readonly #durableVersions = new Map<number, number>();
  #version = 0;
  #durableSize = 0;
  readonly #dirty = new Set<number>();
  /** Pages that take room on the disk. */
  readonly #allocated = new Set<number>();

  constructor(number: number, kind: Inode['kind'], modifiedAt: number) {
    this.number = number;
    this.kind = kind;
    this.modifiedAt = modifiedAt;
  }

  contents(): Uint8Array {
    return Buffer.from(this.#bytes.subarray(0, this.size));
  }

  /** @returns the pages that it took on the disk */
  write(bytes: Uint8Array, at: number): number {
    if (bytes.length === 0) return 0;
    const end = at + bytes.length;
    this.#grow(end);
    this.#bytes.set(bytes, at);
    this.size = Math.max(this.size, end);
    const before = this.#allocated.size;
    for (let page = pageOf(at); page <= pageOf(end - 1); page++) {
      this.#dirty.add(page);
      this.#allocated.add(page);
    }
    return this.#allocated.size - before;
  }

  read(into: Uint8Array, at: number): number {
    const length = Math.max(0, Math.min(into.length, this.size - at));
    into.set(this.#bytes.subarray(at, at + length));
    return length;
  }

  /** Returns how many of the bytes fit when `pages` more may be taken. */
  fitting(at: number, bytes: number, pages: number): number {
    let left = pages;
    for (let page = pageOf(at); page <= pageOf(at + bytes - 1); page++) {
      if (this.#allocated.has(page)) continue;
      if (left === 0) return Math.max(0, page * PAGE_BYTES - at);
      left -= 1;
    }
    return bytes;
  }

  /** @returns the pages that it gave back */
  truncate(size: number): number {
    this.#grow(size);
    const before = this.#allocated.size;
    if (size < this.size) {
      this.#bytes.fill(0, size, this.size);
      for (const page of this.#allocated) {
        if (page * PAGE_BYTES < size) continue;
        this.#allocated.delete(page);
        this.#dirty.delete(page);
      }
      if (size % PAGE_BYTES > 0 && this.#allocated.has(pageOf(size))) this.#dirty.add(pageOf(size));
    }
    this.size = size;
    return before - this.#allocated.size;
  }

  dirtyPages(): Pages {
    this.#version += 1;
    // One piece of memory: V8 collects the whole heap for each 64 MiB of them.
    const copies = Buffer.alloc(this.#dirty.size * PAGE_BYTES);
    const pages = new Map<number, Uint8Array>();
    for (const page of this.#dirty) {
      const copy = copies.subarray(pages.size * PAGE_BYTES, (pages.size + 1) * PAGE_BYTES);
      this.#bytes.copy(copy, 0, page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, this.#bytes.length));
      pages.set(page, copy);
    }
    return { bytes: pages, version: this.#version };
  }

  /** Makes pages durable as they were. What was written to them since stays dirty. */
  makeDurable({ bytes: pages, version }: Pages): void {
    for (const [page, bytes] of pages) {
      this.#store(page, bytes, version);
      this.#clean(page, bytes);
    }
  }

  /** The disk rejected the pages: some were written, the others are lost, and the system marks all as clean. */
  drop({ bytes: pages, version }: Pages, random: Random): void {
    for (const [page, bytes] of pages) {
      if (random.chance(0.3)) this.#store(page, bytes, version);
      this.#clean(page, bytes);
    }
  }

  settleSize(size = this.size): void {
    if (size < this.#durableSize) {
      for (const page of this.#durable.keys()) if (page * PAGE_BYTES >= size) this.#durable.delete(page);
    }
    this.#durableSize = size;
    if (size === this.size) this.hasNewSize = false;
  }

  /** Keeps what is durable, and of each dirty page all, nothing, or some of its sectors. */
  cutPower(random: Random): void {
    const after = Buffer.alloc(this.#durableSize);
    for (const [page, bytes] of this.#durable) {
      if (page * PAGE_BYTES < after.length) after.set(fitting(bytes, page, after.length), page * PAGE_BYTES);
    }
    for (const page of this.#dirty) {
      if (page * PAGE_BYTES >= this.#durableSize || random.chance(0.4)) continue;
      const bytes = fitting(this.#page(page), page, this.#durableSize);
      const isTorn = random.chance(0.3);
      for (let at = 0; at < bytes.length; at += SECTOR_BYTES) {
        if (isTorn && random.chance(0.5)) continue;
        after.set(bytes.subarray(at, at + SECTOR_BYTES), page * PAGE_BYTES + at);
      }
    }
    this.#bytes = after;
    this.size = this.#durableSize;
    this.hasNewSize = false;
    this.#durable.clear();
    this.#dirty.clear();
    for (const page of this.#allocated) if (page * PAGE_BYTES >= this.size) this.#allocated.delete(page);
    for (let page = 0; page * PAGE_BYTES < this.size; page++) this.#durable.set(page, this.#page(page));
  }

  #store(page: number, bytes: Uint8Array, version: number): void {
    if ((this.#durableVersions.get(page) ?? 0) > version) return;
    this.#durable.set(page, bytes);
    this.#durableVersions.set(page, version);
  }

  /** A page that was written again since stays dirty. */
  #clean(page: number, bytes: Uint8Array): void {
    const [start, end] = [page * PAGE_BYTES, (page + 1) * PAGE_BYTES];
    const isSame =
      end <= this.#bytes.length
        ? this.#bytes.compare(bytes, 0, PAGE_BYTES, start, end) === 0
        : this.#page(page).equals(bytes);
    if (isSame) this.#dirty.delete(page);
  }

  #page(page: number): Buffer {
    const bytes = Buffer.alloc(PAGE_BYTES);
    this.#bytes.copy(bytes, 0, page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, this.#bytes.length));
    return bytes;
  }

  #grow(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    const grown = Buffer.alloc(Math.max(bytes, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.size);
    this.#bytes = grown;
  }
}

function pageOf(position: number): number {
  return Math.floor(position / PAGE_BYTES);
}

function fitting(bytes: Uint8Array, page: number, size: number): Uint8Array {
  return bytes.subarray(0, Math.max(0, Math.min(PAGE_BYTES, size - page * PAGE_BYTES)));
}
