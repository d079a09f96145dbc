import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CommandFailed, WrongUsage } from '../output.ts';

/**
 * Writes the body of a response to a file, or to standard output. A file appears when it is whole.
 *
 * @param path null: standard output
 * @returns the number of bytes
 * @throws {WrongUsage} for bytes that are not text on a terminal
 */
export async function writeBody(response: Response, path: string | null): Promise<number> {
  const type = response.headers.get('content-type') ?? '';
  const isText = /^text\/|json|xml|csv/.test(type);
  if (path === null && process.stdout.isTTY && !isText) {
    await response.body?.cancel();
    throw new WrongUsage(`the response is ${type || 'not text'}: name a file with --output`);
  }
  let bytes = 0;
  const counted = async function* () {
    if (response.body === null) return;
    for await (const chunk of response.body) {
      bytes += chunk.byteLength;
      yield chunk;
    }
  };
  if (path === null) {
    await pipeline(counted, process.stdout, { end: false });
    return bytes;
  }
  const unfinished = `${path}.${process.pid}.part`;
  try {
    await pipeline(counted, createWriteStream(unfinished));
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new CommandFailed(`${path} was not written: ${reasonOf(error)}`);
  }
  return bytes;
}

/** `fetch` has the reason of a broken connection in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}
