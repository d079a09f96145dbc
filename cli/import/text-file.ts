import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Encoding, encodingOf, formOf, type TextForm } from '../../core/link-imports/text-form.ts';
import { CommandFailed } from '../output.ts';

/** A file with its encoding and form. */
export type TextFile = {
  path: string;
  /** Bytes; 0 if unknown. */
  size: number;
  encoding: Encoding;
  content: TextForm;
};

const HEAD_BYTES = 65_536;
/** Small, so that the progress bar does not run ahead of the rows. */
const READ_BYTES = 16_384;

/**
 * Detects the encoding and form of a file from its first 64 KiB (see `core/link-imports/text-form.ts`).
 *
 * @throws {CommandFailed} when the file is unreadable, empty, or not text
 */
export async function openTextFile(path: string): Promise<TextFile> {
  const { head, size } = await readHead(path);
  const encoding = encodingOf(head);
  const text = new TextDecoder(encoding).decode(head);
  if (text.trim() === '') throw new CommandFailed(`${path} is empty`);
  if (text.includes('\0')) throw new CommandFailed(`${path} is not a text file: export it as CSV or JSON`);
  return { path, size, encoding, content: formOf(text) };
}

/**
 * Yields the text of a file in chunks. Invalid bytes become U+FFFD; the parser rejects such rows.
 *
 * @param onBytes receives the size of each chunk read
 */
export async function* readText(file: TextFile, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder(file.encoding);
  for await (const chunk of createReadStream(file.path, { highWaterMark: READ_BYTES })) {
    onBytes(chunk.length);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

async function readHead(path: string): Promise<{ head: Buffer; size: number }> {
  try {
    const file = await open(path);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) throw new CommandFailed(`${path} is not a file`);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return { head: buffer.subarray(0, bytesRead), size: stat.size };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new CommandFailed(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
