import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../../file-lock.ts';
import { FILE_MODE } from './segments.ts';

/** Another process writes this stream. Two writers would give the same sequences to different events. */
export class StreamLockedError extends Error {
  constructor(directory: string, holder: string) {
    super(`journal ${directory} is being written by another process${holder && ` (pid ${holder})`}`);
    this.name = 'StreamLockedError';
  }
}

/**
 * Takes a stream's directory for this process, until `release` or the process's end, however it ends.
 *
 * @throws {StreamLockedError} when another process, or another writer of this one, has it
 */
export function lockStream(directory: string): { release(): void } {
  const pidPath = join(directory, 'writer.pid');
  const lock = lockFile(join(directory, 'lock'), FILE_MODE);
  if (lock === null) throw new StreamLockedError(directory, readHolder(pidPath));
  noteHolder(pidPath);
  return lock;
}

/** The pid is only for the message, the lock does not rest on it: a full disk must not stop a start. */
function noteHolder(pidPath: string): void {
  try {
    writeFileSync(pidPath, String(process.pid), { mode: FILE_MODE });
  } catch {
    rmSync(pidPath, { force: true });
  }
}

function readHolder(pidPath: string): string {
  try {
    return readFileSync(pidPath, 'utf8');
  } catch {
    return '';
  }
}
