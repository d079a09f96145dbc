import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
 * Node offers no file lock of its own, and a pid file errs when pids are re-used or live in another
 * container. SQLite takes a real lock of the operating system on its (empty) file, on every platform.
 *
 * @throws {StreamLockedError} when another process, or another writer of this one, has it
 */
export function lockStream(directory: string): { release(): void } {
  const path = join(directory, 'lock');
  const pidPath = join(directory, 'writer.pid');
  closeSync(openSync(path, 'a', FILE_MODE));
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new StreamLockedError(directory, readHolder(pidPath));
    }
    throw error;
  }
  noteHolder(pidPath);
  return { release: () => database.close() };
}

const SQLITE_BUSY = 5;

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
