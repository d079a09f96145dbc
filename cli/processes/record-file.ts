import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ProcessRecord, recordOf, stillRuns } from './identity.ts';
import { overwriteInPlace } from './overwrite-in-place.ts';

/**
 * Record of a process that works on a directory. It names the directory, because a copy of the directory contains a
 * copy of the record.
 */
export type DirectoryRecord = ProcessRecord & {
  /** {@link directoryId} of the directory. */
  directory: string;
  /** Path of the directory when the record was written, for messages. */
  path: string;
  /** The process is stopping. */
  stopping?: boolean;
};

/**
 * Content of a record file: none, a running process of this directory (own), or one of the directory that this one was
 * copied from (foreign).
 */
export type Recorded =
  | { kind: 'none' }
  | { kind: 'own'; record: DirectoryRecord }
  | { kind: 'foreign'; record: DirectoryRecord };

/** Returns an id that differs for each copy of a directory, and survives renames and new mount points. */
export function directoryId(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * Records a running process in a file. Works on a full disk if the file exists.
 *
 * @param more additional fields
 * @throws when the write fails
 */
export function writeRecord(path: string, pid: number, more: Record<string, unknown> = {}): void {
  const record = recordOf(pid);
  const directory = dirname(path);
  const kept = record && { ...record, directory: directoryId(directory), path: resolve(directory), ...more };
  overwriteInPlace(path, JSON.stringify(kept));
}

/** Clears a record file and keeps its block, so that the next record fits on a full disk. */
export function clearRecord(path: string): void {
  overwriteInPlace(path, '');
}

/** Reads a record file. A process that has exited counts as none. */
export function readRecord(path: string): Recorded {
  const record = parsed(path);
  if (record === null || !stillRuns(record)) return { kind: 'none' };
  return { kind: record.directory === directoryId(dirname(path)) ? 'own' : 'foreign', record };
}

function parsed(path: string): DirectoryRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
  return isDirectoryRecord(value) ? value : null;
}

function isDirectoryRecord(value: unknown): value is DirectoryRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, started, directory, path } = value as Record<string, unknown>;
  return (
    Number.isInteger(pid) &&
    Number(pid) > 0 &&
    [started, directory, path].every((text) => typeof text === 'string')
  );
}
