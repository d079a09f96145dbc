import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Takes a lock of the operating system on a file, until `release` or the process's end, however it ends. It needs no free space
 * once the file exists, and a copy of the file is not locked.
 *
 * Node offers no file lock of its own, and a pid file errs when pids are re-used or live in another
 * container. SQLite takes a real lock on its (empty) file, on every platform.
 *
 * Hazard: POSIX drops a process's locks on a file when it closes any descriptor of that file. Keep other contents elsewhere.
 *
 * @param mode of the file when it is made
 * @returns null when another process, or another caller in this one, has it
 */
export function lockFile(path: string, mode = 0o600): { release(): void } | null {
  if (!existsSync(path)) closeSync(openSync(path, 'a', mode));
  const database = new DatabaseSync(path);
  try {
    // On a full disk there is no room for a rollback journal.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return { release: () => database.close() };
}
