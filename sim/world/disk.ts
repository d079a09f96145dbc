import { Inode, PAGE_BYTES } from './inode.ts';
import type { Process, World } from './world.ts';

/** Errors of missing files are frequent, and a stack takes longer than all else of a call. */
function withoutStack(message: string): Error {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new Error(message);
  Error.stackTraceLimit = before;
  return error;
}

/** An error as the operating system reports it. */
export function systemError(code: string, call: string, path: string): NodeJS.ErrnoException {
  return Object.assign(withoutStack(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}

/** A change of names or sizes that a power cut may forget. It forgets the latest ones, never one before another. */
type Change = () => void;

type OpenFile = { inode: Inode; path: string; process: Process; canWrite: boolean; position: number };

/** The faults of a disk. Probabilities are of one call. */
export type DiskFaults = {
  /** Writes that are refused with EIO. */
  writeErrors: number;
  /** Syncs that are refused with EIO. The pages may then be lost, and no longer count as dirty. */
  syncErrors: number;
  /** Free bytes; null: enough. */
  freeBytes: number | null;
  isReadOnly: boolean;
};

export const NO_FAULTS: DiskFaults = { writeErrors: 0, syncErrors: 0, freeBytes: null, isReadOnly: false };

/**
 * A file system in memory, as ext4 behaves with its defaults: what is written is seen at once and is durable once it is
 * synced. A power cut keeps any part of the pages that were not synced, torn in sectors, and forgets the latest changes
 * of names and sizes.
 */
export class Disk {
  readonly #world: World;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #changes: Change[] = [];
  readonly #open = new Map<number, OpenFile>();
  readonly #watchers = new Map<string, Set<() => void>>();
  #nextDescriptor = 100;
  #nextInode = 1;
  faults: DiskFaults = { ...NO_FAULTS };
  /** Counted for the summary of a run. */
  readonly counts = { writes: 0, syncs: 0, errors: 0 };

  constructor(world: World) {
    this.#world = world;
    this.#link('/', this.#inode('directory'));
    this.#commit();
  }

  // Names

  exists(path: string): boolean {
    return this.#names.has(path);
  }

  inodeOf(path: string, call: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw systemError('ENOENT', call, path);
    return inode;
  }

  list(path: string): { name: string; inode: Inode }[] {
    this.inodeOf(path, 'scandir');
    const prefix = `${path}/`;
    const found: { name: string; inode: Inode }[] = [];
    for (const [name, inode] of this.#names) {
      if (!name.startsWith(prefix) || name.includes('/', prefix.length)) continue;
      found.push({ name: name.slice(prefix.length), inode });
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  makeDirectories(path: string): void {
    const parts = path.split('/').filter(Boolean);
    for (let length = 1; length <= parts.length; length++) {
      const directory = `/${parts.slice(0, length).join('/')}`;
      if (this.#names.has(directory)) continue;
      this.#assertWritable('mkdir', directory);
      this.#link(directory, this.#inode('directory'));
    }
  }

  rename(from: string, to: string): void {
    this.#assertWritable('rename', from);
    const inode = this.inodeOf(from, 'rename');
    this.#names.delete(from);
    this.#names.set(to, inode);
    this.#changes.push(() => {
      this.#durableNames.delete(from);
      this.#durableNames.set(to, inode);
    });
  }

  /** @returns false when there is no such name */
  remove(path: string): boolean {
    if (!this.#names.has(path)) return false;
    this.#assertWritable('unlink', path);
    for (const name of [...this.#names.keys()]) {
      if (name !== path && !name.startsWith(`${path}/`)) continue;
      this.#names.delete(name);
      this.#changes.push(() => this.#durableNames.delete(name));
    }
    return true;
  }

  // Open files

  open(path: string, how: { canWrite: boolean; creates: boolean; isExclusive: boolean; truncates: boolean }) {
    let inode = this.#names.get(path);
    if (how.canWrite) this.#assertWritable('open', path);
    if (!inode) {
      if (!how.creates) throw systemError('ENOENT', 'open', path);
      inode = this.#inode('file');
      this.#link(path, inode);
    } else if (how.isExclusive) {
      throw systemError('EEXIST', 'open', path);
    }
    const descriptor = this.#nextDescriptor++;
    this.#open.set(descriptor, {
      inode,
      path,
      process: this.#world.current,
      canWrite: how.canWrite,
      position: 0,
    });
    if (how.truncates) this.truncate(descriptor, 0);
    return descriptor;
  }

  close(descriptor: number): void {
    this.#file(descriptor);
    this.#open.delete(descriptor);
  }

  closeAllOf(process: Process): void {
    for (const [descriptor, file] of this.#open) if (file.process === process) this.#open.delete(descriptor);
  }

  inode(descriptor: number): Inode {
    return this.#file(descriptor).inode;
  }

  /**
   * Writes as many bytes as the disk has room for.
   *
   * @returns the bytes written
   */
  write(descriptor: number, bytes: Uint8Array, position: number | null): number {
    const file = this.#file(descriptor);
    if (!file.canWrite) throw systemError('EBADF', 'write', file.path);
    this.#assertWritable('write', file.path);
    this.#failWrite(file.path);
    const at = position ?? file.position;
    const length = this.#roomFor(file, at, bytes.length);
    const sizeBefore = file.inode.size;
    const taken = file.inode.write(bytes.subarray(0, length), at);
    if (this.faults.freeBytes !== null) this.faults.freeBytes -= taken * PAGE_BYTES;
    if (file.inode.size !== sizeBefore) this.#noteSize(file.inode);
    file.inode.modifiedAt = this.#world.wall();
    if (position === null) file.position = at + length;
    this.counts.writes += 1;
    this.#tell(file.path);
    return length;
  }

  read(descriptor: number, into: Uint8Array, position: number | null): number {
    const file = this.#file(descriptor);
    const at = position ?? file.position;
    const read = file.inode.read(into, at);
    if (position === null) file.position = at + read;
    return read;
  }

  truncate(descriptor: number, size: number): void {
    const { inode, path } = this.#file(descriptor);
    this.#assertWritable('ftruncate', path);
    const freed = inode.truncate(size);
    if (this.faults.freeBytes !== null) this.faults.freeBytes += freed * PAGE_BYTES;
    this.#noteSize(inode);
  }

  /** Makes everything durable that was written before now. */
  sync(descriptor: number, { withNames }: { withNames: boolean }): void {
    this.beginSync(descriptor, { withNames })();
  }

  /**
   * Begins a sync, which does not cover later writes.
   *
   * @returns a function that ends it
   * @throws EIO, after which the pages count as clean although some of them are lost
   */
  beginSync(descriptor: number, { withNames }: { withNames: boolean }): () => void {
    const { inode, path } = this.#file(descriptor);
    const pages = inode.dirtyPages();
    const changes = withNames || inode.hasNewSize ? this.#changes.length : 0;
    return () => {
      this.counts.syncs += 1;
      if (this.#isChance(this.faults.syncErrors)) {
        inode.drop(pages, this.#world.random);
        this.counts.errors += 1;
        throw systemError('EIO', 'fsync', path);
      }
      inode.makeDurable(pages);
      this.#commit(Math.min(changes, this.#changes.length));
    };
  }

  watch(path: string, onChange: () => void): { close(): void } {
    this.inodeOf(path, 'watch');
    const watchers = this.#watchers.get(path) ?? new Set();
    this.#watchers.set(path, watchers.add(onChange));
    return { close: () => watchers.delete(onChange) };
  }

  /** Bytes that the file system says are free. */
  get free(): number {
    return this.faults.freeBytes ?? 2 ** 36;
  }

  // Faults

  /** Power is cut: what was not synced is kept in part. All processes must have ended. */
  cutPower(): void {
    const { random } = this.#world;
    // The journal of a file system loses its latest entries, in order.
    this.#commit(random.integer(0, this.#changes.length));
    this.#changes = [];
    this.#names = new Map(this.#durableNames);
    for (const inode of new Set(this.#names.values())) inode.cutPower(random);
    this.#open.clear();
    this.#watchers.clear();
  }

  /** Returns a copy of the files below a directory, as `cp` makes one. */
  copy(path: string): Map<string, Uint8Array | null> {
    const files = [...this.#names].filter(([name]) => name === path || name.startsWith(`${path}/`));
    return new Map(files.map(([name, inode]) => [name, inode.kind === 'file' ? inode.contents() : null]));
  }

  /** Replaces the files below a directory by a copy. */
  restore(path: string, copy: ReadonlyMap<string, Uint8Array | null>): void {
    this.remove(path);
    for (const [name, bytes] of copy) {
      const inode = this.#inode(bytes ? 'file' : 'directory');
      if (bytes) inode.write(bytes, 0);
      inode.makeDurable(inode.dirtyPages());
      inode.settleSize();
      this.#link(name, inode);
    }
    this.#commit();
  }

  #inode(kind: Inode['kind']): Inode {
    return new Inode(this.#nextInode++, kind, this.#world.wall());
  }

  #link(path: string, inode: Inode): void {
    this.#names.set(path, inode);
    this.#changes.push(() => this.#durableNames.set(path, inode));
  }

  #noteSize(inode: Inode): void {
    const { size } = inode;
    inode.hasNewSize = true;
    this.#changes.push(() => inode.settleSize(size));
  }

  #commit(count = this.#changes.length): void {
    for (const change of this.#changes.splice(0, count)) change();
  }

  #file(descriptor: number): OpenFile {
    const file = this.#open.get(descriptor);
    if (!file) throw systemError('EBADF', 'fd', String(descriptor));
    return file;
  }

  #assertWritable(call: string, path: string): void {
    if (!this.faults.isReadOnly) return;
    this.counts.errors += 1;
    throw systemError('EROFS', call, path);
  }

  #failWrite(path: string): void {
    if (!this.#isChance(this.faults.writeErrors)) return;
    this.counts.errors += 1;
    throw systemError('EIO', 'write', path);
  }

  #isChance(probability: number): boolean {
    return probability > 0 && this.#world.random.chance(probability);
  }

  /**
   * Returns how many of the bytes fit on the disk.
   *
   * @throws ENOSPC when none fits
   */
  #roomFor({ inode, path }: OpenFile, at: number, bytes: number): number {
    const { freeBytes } = this.faults;
    if (freeBytes === null || bytes === 0) return bytes;
    const length = inode.fitting(at, bytes, Math.max(0, Math.floor(freeBytes / PAGE_BYTES)));
    if (length > 0) return length;
    this.counts.errors += 1;
    throw systemError('ENOSPC', 'write', path);
  }

  #tell(path: string): void {
    for (const onChange of this.#watchers.get(path) ?? []) onChange();
  }
}
