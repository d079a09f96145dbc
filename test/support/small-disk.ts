import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** Written instead of reserved, because the blocks that describe a reservation are not free either. */
const SPARED_BYTES = 4 * 2 ** 20;

/** A file system of its own in a file, so that a test can fill or break it. */
export type SmallDisk = {
  /** Its mount point. */
  path: string;
  /** Name of its block device, such as `loop0`. */
  device: string;
  /** Uses up every free byte. */
  fill(): void;
  /** Uses up every free inode. */
  takeInodes(): void;
  /** Frees what {@link SmallDisk.fill} used. */
  free(): void;
  /** Whether it is not read-only. */
  isWritable(): boolean;
  /** Makes it read-only under open files, as the kernel does after an I/O error. */
  breakDown(): void;
  remove(): void;
};

/** Returns whether this process may mount one: root on Linux, outside of a container that forbids it. */
export function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('losetup', ['--find'], { stdio: 'ignore' });
    execFileSync('mkfs.ext4', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates an ext4 file system in the directory and mounts it there. It is unmounted whenever this process ends.
 *
 * @param directory an existing, empty one
 * @param mostFiles number of files that it can hold; default: one for each 4 KiB, or 16 KiB of a larger one
 */
export function mountSmallDisk(directory: string, bytes: number, mostFiles?: number): SmallDisk {
  const image = join(directory, 'image');
  const path = join(directory, 'disk');
  const file = openSync(image, 'w');
  ftruncateSync(file, bytes);
  closeSync(file);
  const count = mostFiles === undefined ? [] : ['-N', String(mostFiles)];
  execFileSync('mkfs.ext4', [
    '-q',
    '-m',
    '0',
    '-b',
    '4096',
    ...count,
    '-E',
    'lazy_itable_init=0,nodiscard',
    image,
  ]);
  mkdirSync(path);
  execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, path]);
  const source = execFileSync('findmnt', ['--noheadings', '--output', 'SOURCE', path], { encoding: 'utf8' });
  const guard = spawn('sh', ['-c', 'read -r released || umount -l "$0"', path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  guard.stdin.on('error', () => {});
  const ballast = join(path, 'ballast');
  const inodes = join(path, 'inodes');
  let files = 0;
  let isWritable = true;
  return {
    path,
    device: basename(source.trim()),
    fill() {
      reserve(ballast, path);
      const filling = openSync(ballast, 'a');
      try {
        for (let size = 2 ** 20; size > 0; size = Math.floor(size / 2)) writeUntilFull(filling, size);
      } finally {
        closeSync(filling);
      }
    },
    takeInodes() {
      mkdirSync(inodes, { recursive: true });
      try {
        for (;;) closeSync(openSync(join(inodes, String(files++)), 'wx'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    free: () => rmSync(ballast, { force: true }),
    isWritable: () => isWritable,
    breakDown() {
      isWritable = false;
      execFileSync('mount', ['-o', 'remount,abort', path], { stdio: 'ignore' });
    },
    remove() {
      execFileSync('umount', ['-l', path]);
      guard.stdin.end('released\n');
    },
  };
}

/** Takes nearly all free space without writing it: the system reserves some of it. */
function reserve(file: string, path: string): void {
  const { bavail, bsize } = statfsSync(path);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const free = bavail * bsize - SPARED_BYTES;
  if (free > 0) execFileSync('fallocate', ['--offset', String(size), '--length', String(free), file]);
}

function writeUntilFull(file: number, size: number): void {
  const bytes = Buffer.alloc(size);
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
