import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A stream's directory holds segment files named by the logical offset at which they start. An offset is
 * the segment's start plus a position in the file. Between the end of a segment and the start of the next
 * there may be offsets that never existed: a restart begins beyond any offset that a reader can have
 * seen, also when a power cut took the end of the journal.
 */
export type Segment = { start: bigint; path: string };

const SEGMENT = /^(\d{20})\.seg$/;
const PREPARED = /^(\d{20})\.next$/;

/** Permission bits: only the user that runs the service reads the journal. */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** Directory of one stream's journal. */
export function streamDirectory(dataDir: string, streamName: string): string {
  return join(journalDirectory(dataDir), streamName);
}

/** Directory that holds a directory for each stream. */
export function journalDirectory(dataDir: string): string {
  return join(dataDir, 'journal');
}

export function segmentPath(directory: string, start: bigint): string {
  return join(directory, `${start.toString().padStart(20, '0')}.seg`);
}

/** A segment that is filled with zeros and synced, ready to be taken. It becomes one by its new name. */
export function preparedPath(directory: string, start: bigint): string {
  return join(directory, `${start.toString().padStart(20, '0')}.next`);
}

/** The segments of a stream, oldest first; empty when the directory does not exist. */
export async function listSegments(directory: string): Promise<Segment[]> {
  return namesOf(directory, await readdir(directory).catch(missingIsEmpty), SEGMENT);
}

/** {@link listSegments} for the writer, which may not give up its turn. */
export function listSegmentsNow(directory: string): Segment[] {
  return namesOf(directory, readdirSync(directory), SEGMENT);
}

/** Prepared segments, lowest start first. More than one only after a crash. */
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

/** To be given to `catch`: what is not there, a segment that was freed meanwhile, is null. @throws every other error */
export function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function missingIsEmpty(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
