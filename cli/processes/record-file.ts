import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ProcessRecord, recordOf, stillRuns } from './identity.ts';
import { overwriteInPlace } from './standing-file.ts';

/**
 * A process of one directory, in a file of that directory. A copy of the directory holds a copy of the record, while the process
 * works on the original: so the record says which directory it is of.
 */
export type KeptRecord = ProcessRecord & {
  /** {@link directoryId} of the directory that the file was written in. */
  directory: string;
  /** Where that directory was then. For messages. */
  path: string;
  /** It has been asked to end. */
  stopping?: boolean;
};

/**
 * What a record file says: nothing, a process of this directory that still runs, or one of the directory that this one is a copy
 * of.
 */
export type Recorded =
  | { kind: 'none' }
  | { kind: 'own'; record: KeptRecord }
  | { kind: 'foreign'; record: KeptRecord };

/** Tells a directory from each copy of it; renaming and mounting it at another place change nothing. */
export function directoryId(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * Records a running process in a file, on a full disk too where the file exists.
 *
 * @param more fields that go with it
 * @throws what the disk says
 */
export function writeRecord(path: string, pid: number, more: Record<string, unknown> = {}): void {
  const record = recordOf(pid);
  const directory = dirname(path);
  const kept = record && { ...record, directory: directoryId(directory), path: resolve(directory), ...more };
  overwriteInPlace(path, JSON.stringify(kept));
}

/** Empties a record file. It stays, so that there is room for the next record. */
export function clearRecord(path: string): void {
  overwriteInPlace(path, '');
}

/** Reads a record file: only a process that still runs counts. */
export function readRecord(path: string): Recorded {
  const record = parsed(path);
  if (record === null || !stillRuns(record)) return { kind: 'none' };
  return { kind: record.directory === directoryId(dirname(path)) ? 'own' : 'foreign', record };
}

function parsed(path: string): KeptRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
  return isKeptRecord(value) ? value : null;
}

/** A record without a directory may be of any: it is none. */
function isKeptRecord(value: unknown): value is KeptRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, started, directory, path } = value as Record<string, unknown>;
  return (
    Number.isInteger(pid) &&
    Number(pid) > 0 &&
    [started, directory, path].every((text) => typeof text === 'string')
  );
}
