import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';

/** One block of common file systems. It stays allocated after the first write. */
const BLOCK_BYTES = 4096;

/**
 * Overwrites a small text file in place, padded with spaces to one block and readable by its owner only. Once the file
 * exists this needs no free space, so it also works on a full disk. A crash during the write may leave the file
 * unreadable.
 *
 * @throws Error when the text is longer than a block or the write fails
 */
export function overwriteInPlace(path: string, text: string): void {
  const length = Buffer.byteLength(text);
  if (length > BLOCK_BYTES) {
    throw new Error(`the text for ${path} has ${length} bytes: must have at most ${BLOCK_BYTES}`);
  }
  const block = Buffer.alloc(BLOCK_BYTES, ' ');
  block.write(text);
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    writeSync(file, block, 0, BLOCK_BYTES, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
