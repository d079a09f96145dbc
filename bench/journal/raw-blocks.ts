import { closeSync, fdatasync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';

const FILE_BYTES = 64 * 1024 * 1024;
const ZEROS = Buffer.alloc(1 << 20);

/**
 * Writes blocks in a loop to a file of zeros, like the journal's segments: the minimum cost of durable writes.
 *
 * @param everyMs interval of background syncs; 0: syncs each block before the next
 */
export async function writeBlocks(
  path: string,
  blockBytes: number,
  everyMs: number,
  millis: number,
): Promise<{ written: number; seconds: number }> {
  const fd = openSync(path, 'w+');
  try {
    for (let at = 0; at < FILE_BYTES; at += ZEROS.length) writeSync(fd, ZEROS, 0, ZEROS.length, at);
    fdatasyncSync(fd);
    const block = Buffer.alloc(blockBytes, 7);
    let position = 0;
    const write = () => {
      if (position + blockBytes > FILE_BYTES) position = 0;
      writeSync(fd, block, 0, blockBytes, position);
      position += blockBytes;
    };
    const began = performance.now();
    const written =
      everyMs === 0 ? syncedEach(fd, write, millis) : await syncedBehind(fd, write, everyMs, millis);
    return { written, seconds: (performance.now() - began) / 1_000 };
  } finally {
    closeSync(fd);
    rmSync(path);
  }
}

function syncedEach(fd: number, write: () => void, millis: number): number {
  let written = 0;
  for (const end = performance.now() + millis; performance.now() < end; written++) {
    write();
    fdatasyncSync(fd);
  }
  return written;
}

function syncedBehind(fd: number, write: () => void, everyMs: number, millis: number): Promise<number> {
  let written = 0;
  let syncing = false;
  let syncAt = performance.now() + everyMs;
  const end = performance.now() + millis;
  return new Promise((done, fail) => {
    const turn = () => {
      const now = performance.now();
      if (now >= end && !syncing) return done(written);
      write();
      written += 1;
      if (now >= syncAt && !syncing) {
        syncing = true;
        fdatasync(fd, (error) => {
          if (error) fail(error);
          syncing = false;
          syncAt = performance.now() + everyMs;
        });
      }
      setImmediate(turn);
    };
    turn();
  });
}
