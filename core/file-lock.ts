import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Locks a file through the operating system, until `release` or the end of the process, however it ends. An existing
 * file needs no free space, and a copy of the file is not locked.
 *
 * Node has no file locks, and a pid file is wrong when pids are reused or belong to another container. SQLite locks
 * its (empty) file on every platform.
 *
 * Hazard: POSIX drops a process's locks on a file when it closes any descriptor of that file. Keep other contents
 * elsewhere.
 *
 * @param mode of the file when it is created
 * @returns null when another process, or another caller in this one, holds the lock
 */
export function lockFile(path: string, mode = 0o600): { release(): void } | null {
  if (!existsSync(path)) closeSync(openSync(path, 'a', mode));
  const database = new DatabaseSync(path);
  try {
    // A full disk has no room for a rollback journal.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return { release: () => database.close() };
}
