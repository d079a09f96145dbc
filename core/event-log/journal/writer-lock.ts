import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../../file-lock.ts';
import { FILE_MODE } from './segments.ts';

/** Thrown when another process writes the stream. Two writers would assign the same sequences to different events. */
class StreamLockedError extends Error {
  constructor(directory: string, holder: string) {
    super(`journal ${directory} is being written by another process${holder && ` (pid ${holder})`}`);
    this.name = 'StreamLockedError';
  }
}

/**
 * Locks a stream's directory for this process, until `release` or the end of the process, however it ends.
 *
 * @throws {StreamLockedError} when another writer, in this process or another, holds the lock
 */
export function lockStream(directory: string): { release(): void } {
  const pidPath = join(directory, 'writer.pid');
  const lock = lockFile(join(directory, 'lock'), FILE_MODE);
  if (lock === null) throw new StreamLockedError(directory, readHolder(pidPath));
  noteHolder(pidPath);
  return lock;
}

/** Saves the pid for the error message. The lock does not depend on it: a full disk must not prevent a start. */
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
