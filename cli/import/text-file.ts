import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { CommandFailed } from '../output.ts';

/** How a file has to be read. */
export type TextFile = {
  path: string;
  /** Bytes; 0 where nobody knows, as of a pipe. */
  size: number;
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  content: { kind: 'json' } | { kind: 'csv'; delimiter: string; firstLine: number };
};

const HEAD_BYTES = 65_536;
/** Small, so that progress moves with the rows and not ahead of them. */
const READ_BYTES = 16_384;
const DELIMITERS = [',', ';', '\t', '|'];

/**
 * Looks at the beginning of a file: its encoding by the byte order mark (UTF-8 without one), JSON by its first
 * character, the delimiter of CSV by what parts the columns of its first line, or by Excel's line `sep=;`.
 *
 * @throws {CommandFailed} when it can't be read, is empty, or is no text
 */
export async function openTextFile(path: string): Promise<TextFile> {
  const { head, size } = await readHead(path);
  const encoding = encodingOf(head);
  const text = new TextDecoder(encoding).decode(head);
  if (text.trim() === '') throw new CommandFailed(`${path} is empty`);
  if (text.includes('\0')) throw new CommandFailed(`${path} is no text: export it as CSV or JSON`);
  if (/^\s*[[{]/.test(text)) return { path, size, encoding, content: { kind: 'json' } };
  const told = /^sep=(.)\r?\n/i.exec(text)?.[1];
  const delimiter = told ?? delimiterOf(text);
  return { path, size, encoding, content: { kind: 'csv', delimiter, firstLine: told ? 2 : 1 } };
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

function encodingOf(head: Buffer): TextFile['encoding'] {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

/** The delimiter that stands most often outside quotes in the first line; a comma where there is one column. */
function delimiterOf(text: string): string {
  const counts = new Map(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') break;
    else if (counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const [most = ','] = [...counts].toSorted(([, a], [, b]) => b - a).map(([delimiter]) => delimiter);
  return most;
}
