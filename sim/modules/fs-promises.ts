import { PAGE_BYTES } from '../world/inode.ts';
import { world } from '../world/world.ts';
import * as now from './fs.ts';

/** `node:fs/promises` on the disk of the simulated world: each call takes effect some milliseconds later. */

/** Runs `work` in a later turn of the running process, which may end before that. */
function later<T>(work: () => T): Promise<T> {
  const present = world();
  present.beforeOperation();
  const ms = present.random.between(0, present.isDiskSlow ? 200 : 3);
  return new Promise((resolve, reject) => {
    present.schedule(ms, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

class FileHandle {
  readonly fd: number;

  constructor(descriptor: number) {
    this.fd = descriptor;
  }

  write(bytes: Uint8Array, offset = 0, length = bytes.length - offset, position: number | null = null) {
    return later(() => ({
      bytesWritten: now.writeSync(this.fd, bytes, offset, length, position),
      buffer: bytes,
    }));
  }

  read(into: Uint8Array, offset = 0, length = into.length - offset, position: number | null = null) {
    return later(() => ({ bytesRead: now.readSync(this.fd, into, offset, length, position), buffer: into }));
  }

  sync() {
    return this.#sync(true);
  }

  datasync() {
    return this.#sync(false);
  }

  stat() {
    return later(() => now.fstatSync(this.fd));
  }

  close() {
    return later(() => now.closeSync(this.fd));
  }

  #sync(withNames: boolean): Promise<void> {
    const present = world();
    present.beforeOperation();
    const end = present.disk.beginSync(this.fd, { withNames });
    return later(end);
  }
}

export const open = (path: string, flags?: string | number) =>
  later(() => new FileHandle(now.openSync(path, flags)));
export const rename = (from: string, to: string) => later(() => now.renameSync(from, to));
export const unlink = (path: string) => later(() => now.unlinkSync(path));
export const readdir = (path: string) => later(() => now.readdirSync(path));
export const stat = (path: string) => later(() => now.statSync(path));
export const statfs = () =>
  later(() => {
    const { free } = world().disk;
    const pages = Math.floor(free / PAGE_BYTES);
    return { bavail: pages, bfree: pages, bsize: PAGE_BYTES, blocks: 2 ** 24, files: 1e6, ffree: 1e6 };
  });
