import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Encoding, encodingOf, formOf, type TextForm } from '../../core/link-imports/text-form.ts';
import { CommandFailed } from '../output.ts';

/** How a file has to be read. */
export type TextFile = {
  path: string;
  /** Bytes; 0 where nobody knows, as of a pipe. */
  size: number;
  encoding: Encoding;
  content: TextForm;
};

const HEAD_BYTES = 65_536;
/** Small, so that progress moves with the rows and not ahead of them. */
const READ_BYTES = 16_384;

/**
 * Looks at the beginning of a file: its encoding and what it holds (see `core/link-imports/text-form.ts`).
 *
 * @throws {CommandFailed} when it can't be read, is empty, or is no text
 */
export async function openTextFile(path: string): Promise<TextFile> {
  const { head, size } = await readHead(path);
  const encoding = encodingOf(head);
  const text = new TextDecoder(encoding).decode(head);
  if (text.trim() === '') throw new CommandFailed(`${path} is empty`);
  if (text.includes('\0')) throw new CommandFailed(`${path} is no text: export it as CSV or JSON`);
  return { path, size, encoding, content: formOf(text) };
}

/**
 * The text of a file, piece by piece. What is not valid in its encoding becomes U+FFFD, for the row to be refused.
 *
 * @param onBytes is told how many more bytes have been read
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
    throw new CommandFailed(
      `can not read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
