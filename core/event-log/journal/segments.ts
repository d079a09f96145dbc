import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A segment file, named by the logical offset at which it starts. An offset is that start plus a position in the
 * file. Offsets between the end of a segment and the next start may never have existed: a restart begins beyond any
 * offset that a reader can have seen, lost ones included.
 */
export type Segment = { start: bigint; path: string };

const SEGMENT = /^(\d{20})\.seg$/;
const PREPARED = /^(\d{20})\.next$/;

/** Permission bits: only the user that runs the service reads the journal. */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** Returns the directory of one stream's journal. */
export function streamDirectory(dataDir: string, streamName: string): string {
  return join(journalDirectory(dataDir), streamName);
}

/** Returns the directory that holds a directory for each stream. */
export function journalDirectory(dataDir: string): string {
  return join(dataDir, 'journal');
}

export function segmentPath(directory: string, start: bigint): string {
  return join(directory, `${start.toString().padStart(20, '0')}.seg`);
}

/** Path of a prepared segment: filled with zeros and synced. It becomes a segment when it is renamed. */
export function preparedPath(directory: string, start: bigint): string {
  return join(directory, `${start.toString().padStart(20, '0')}.next`);
}

/** Returns the segments of a stream, oldest first; none when the directory does not exist. */
export async function listSegments(directory: string): Promise<Segment[]> {
  return namesOf(directory, await readdir(directory).catch(missingIsEmpty), SEGMENT);
}

/** {@link listSegments}, synchronously. @throws where the directory does not exist */
export function listSegmentsNow(directory: string): Segment[] {
  return namesOf(directory, readdirSync(directory), SEGMENT);
}

/** Returns the prepared segments, lowest start first. More than one exists only after a crash. */
export function listPreparedNow(directory: string): Segment[] {
  return namesOf(directory, readdirSync(directory), PREPARED);
}

function namesOf(directory: string, names: string[], pattern: RegExp): Segment[] {
  const segments: Segment[] = [];
  for (const name of names) {
    const start = pattern.exec(name)?.[1];
    if (start !== undefined) segments.push({ start: BigInt(start), path: join(directory, name) });
  }
  return segments.sort((a, b) => (a.start < b.start ? -1 : 1));
}

/** For `catch`: returns null for a file that does not exist, such as a removed segment. @throws every other error */
export function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function missingIsEmpty(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
