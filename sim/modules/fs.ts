import { constants, readdirSync as listReally, readFileSync as readReally } from 'node:fs';
import { systemError } from '../world/disk.ts';
import { type Inode, PAGE_BYTES } from '../world/inode.ts';
import { type World, world } from '../world/world.ts';

/**
 * The part of `node:fs` that the product uses, on the disk of the simulated world. The process may be killed before any
 * call.
 */

export { constants };

type Flags = string | number | undefined;
type Encoding = BufferEncoding | { encoding?: BufferEncoding | null } | null | undefined;

/** Returns the world, at a call of the running process. @throws {Killed} */
function called(): World {
  const present = world();
  present.beforeOperation();
  return present;
}

export function howOf(flags: Flags = 'r') {
  if (typeof flags === 'number') {
    return {
      canWrite: (flags & (constants.O_RDWR | constants.O_WRONLY)) !== 0,
      creates: (flags & constants.O_CREAT) !== 0,
      isExclusive: (flags & constants.O_EXCL) !== 0,
      truncates: (flags & constants.O_TRUNC) !== 0,
    };
  }
  return {
    canWrite: flags !== 'r',
    creates: /^[wa]/.test(flags),
    isExclusive: flags.includes('x'),
    truncates: flags.startsWith('w'),
  };
}

export function statsOf(inode: Inode) {
  return {
    size: inode.size,
    ino: inode.number,
    mtimeMs: inode.modifiedAt,
    blocks: 8,
    blksize: PAGE_BYTES,
    isFile: () => inode.kind === 'file',
    isDirectory: () => inode.kind === 'directory',
  };
}

export function existsSync(path: string): boolean {
  return called().disk.exists(path);
}

export function mkdirSync(path: string): void {
  called().disk.makeDirectories(path);
}

export function renameSync(from: string, to: string): void {
  called().disk.rename(from, to);
}

export function unlinkSync(path: string): void {
  if (!called().disk.remove(path)) throw systemError('ENOENT', 'unlink', path);
}

export function rmSync(path: string, { force = false }: { force?: boolean } = {}): void {
  if (!called().disk.remove(path) && !force) throw systemError('ENOENT', 'rm', path);
}

export function openSync(path: string, flags?: Flags): number {
  return called().disk.open(path, howOf(flags));
}

export function closeSync(descriptor: number): void {
  called().disk.close(descriptor);
}

export function writeSync(
  descriptor: number,
  bytes: Uint8Array,
  offset = 0,
  length = bytes.length - offset,
  position: number | null = null,
): number {
  return called().disk.write(descriptor, bytes.subarray(offset, offset + length), position);
}

export function writevSync(
  descriptor: number,
  pieces: readonly Uint8Array[],
  position: number | null = null,
): number {
  return called().disk.write(descriptor, Buffer.concat(pieces), position);
}

export function readSync(
  descriptor: number,
  into: Uint8Array,
  offset = 0,
  length = into.length - offset,
  position: number | null = null,
): number {
  return called().disk.read(descriptor, into.subarray(offset, offset + length), position);
}

export const fsyncSync = (descriptor: number): void => syncNow(descriptor, true);
export const fdatasyncSync = (descriptor: number): void => syncNow(descriptor, false);

function syncNow(descriptor: number, withNames: boolean): void {
  const present = called();
  present.spend(present.random.between(0.1, 3));
  present.disk.sync(descriptor, { withNames });
}

export function fdatasync(descriptor: number, done: (error: Error | null) => void): void {
  const present = called();
  const end = present.disk.beginSync(descriptor, { withNames: false });
  const ms = present.isDiskSlow ? present.random.between(50, 3_000) : present.random.between(0.2, 12);
  present.schedule(ms, () => {
    try {
      end();
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null);
  });
}

export function ftruncateSync(descriptor: number, size = 0): void {
  called().disk.truncate(descriptor, size);
}

export function truncateSync(path: string, size = 0): void {
  const descriptor = openSync(path, 'r+');
  try {
    ftruncateSync(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
}

export function statSync(path: string, { throwIfNoEntry = true }: { throwIfNoEntry?: boolean } = {}) {
  const { disk } = called();
  if (!throwIfNoEntry && !disk.exists(path)) return undefined;
  return statsOf(disk.inodeOf(path, 'stat'));
}

export function fstatSync(descriptor: number) {
  return statsOf(called().disk.inode(descriptor));
}

export function readdirSync(path: string | URL, { withFileTypes = false }: { withFileTypes?: boolean } = {}) {
  if (path instanceof URL) return listReally(path);
  const entries = called().disk.list(path);
  if (!withFileTypes) return entries.map(({ name }) => name);
  return entries.map(({ name, inode }) => ({ name, ...statsOf(inode) }));
}

/** Files of the product itself, such as schemas, are read by URL, and are not on the simulated disk. */
export function readFileSync(path: string | URL, encoding?: Encoding): string | Buffer {
  if (path instanceof URL) return readReally(path, encoding);
  const bytes = Buffer.from(called().disk.inodeOf(path, 'open').contents());
  const named = typeof encoding === 'string' ? encoding : encoding?.encoding;
  return named ? bytes.toString(named) : bytes;
}

export function writeFileSync(
  path: string,
  contents: string | Uint8Array,
  { flag = 'w', flush = false }: { flag?: string; flush?: boolean } = {},
): void {
  const descriptor = openSync(path, flag);
  try {
    const bytes = Buffer.from(contents);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, at);
    if (flush) fsyncSync(descriptor);
  } finally {
    if (world().current.isAlive) closeSync(descriptor);
  }
}

/** Notifies of changes in a later turn, as the system does. */
export function watch(path: string, _options: object, onChange: () => void) {
  const present = called();
  const { current } = present;
  const watcher = present.disk.watch(path, () => present.schedule(1, onChange, current));
  current.onEnd.push(() => watcher.close());
  const self = { close: () => watcher.close(), on: () => self, unref: () => self };
  return self;
}
