import type { FileHandle } from 'node:fs/promises';
import { CommandFailed } from '../output.ts';

/** POSIX ustar (IEEE 1003.1-1988): a header of 512 bytes before each file, and its content padded to 512 bytes. */
const BLOCK = 512;
const NAME_BYTES = 100;
const CHECKSUM_AT = 148;
const TYPE_AT = 156;
const MODE = 0o600;

const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;

/** Returns the header of a file. Two archives of the same content are equal: the time is 0. */
export function tarHeader(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES) throw new Error(`${name} is too long for a tar header`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write(octal(MODE, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(bytes, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(' '.repeat(8), CHECKSUM_AT);
  header.write('0', TYPE_AT);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT);
  return header;
}

/** Returns the bytes that fill the last block of a file. */
export const tarPadding = (bytes: number) => Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);

/** The end of an archive: two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** A file in an archive: its content is `bytes` bytes from `at` on. */
export type TarEntry = { name: string; at: number; bytes: number };

/**
 * Yields the files of an archive in order, without their content.
 *
 * @throws {CommandFailed} when the archive is cut off or is no tar archive
 */
export async function* tarEntries(file: FileHandle, size: number): AsyncGenerator<TarEntry> {
  const header = Buffer.alloc(BLOCK);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(header, 0, BLOCK, at);
    if (bytesRead < BLOCK) throw new CommandFailed('the archive is cut off');
    if (header.every((byte) => byte === 0)) return;
    const { isFile, ...entry } = readHeader(header, at + BLOCK);
    const end = entry.at + entry.bytes;
    if (end > size) throw new CommandFailed(`the archive is cut off in ${entry.name}`);
    if (isFile) yield entry;
    at = end + tarPadding(entry.bytes).length;
  }
}

/** Reads a header. Entries that `tar` adds when it packs the files again, such as directories, are not files. */
function readHeader(header: Buffer, at: number): TarEntry & { isFile: boolean } {
  const text = (from: number, length: number) =>
    header
      .toString('utf8', from, from + length)
      .replace(/\0.*$/s, '')
      .trim();
  const sum = header.reduce(
    (total, byte, index) => total + (index >= CHECKSUM_AT && index < CHECKSUM_AT + 8 ? 32 : byte),
    0,
  );
  if (sum !== Number.parseInt(text(CHECKSUM_AT, 8), 8)) {
    throw new CommandFailed(
      at === BLOCK
        ? 'the file is not an archive of "hoplog export workspace"'
        : `the archive is damaged at byte ${at - BLOCK}`,
    );
  }
  const isFile = ['0', ''].includes(text(TYPE_AT, 1));
  return {
    name: text(0, NAME_BYTES).replace(/^\.\//, ''),
    at,
    bytes: Number.parseInt(text(124, 12), 8),
    isFile,
  };
}
