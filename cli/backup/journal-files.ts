import { copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { scanSegment } from '../../core/event-log/journal/segment-scan.ts';
import { journalDirectory, listSegmentsNow } from '../../core/event-log/journal/segments.ts';
import type { SourceFile } from './objects.ts';

/** Small files of a stream. Its other files are created again at a start. */
const RECORDS = new Set(['epoch', 'stream.json', 'shipped.json']);
const SCAN_BYTES = 8 * 2 ** 20;

/** A stream whose files can't be removed any more. */
export type HeldStream = { name: string; directory: string };

/**
 * Keeps every journal readable: hard links to its segments, which survive a truncation, and copies of its small files.
 *
 * @param into directory for the links; if it is on another volume, the segments are copied
 */
export function holdJournals(dataDir: string, into: string): HeldStream[] {
  const root = journalDirectory(dataDir);
  const streams = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return streams.map(({ name }) => {
    const directory = join(into, name);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(join(root, name))) {
      const [from, to] = [join(root, name, file), join(directory, file)];
      if (file.endsWith('.seg')) ignoreMissing(() => linkOrCopy(from, to));
      else if (RECORDS.has(file)) ignoreMissing(() => copyFileSync(from, to));
    }
    return { name, directory };
  });
}

/**
 * Returns the files of a held stream, each of which is a bundle. The last segment ends at its last complete frame: a
 * copy that is read while frames are appended could have a gap.
 */
export async function journalFiles({ name, directory }: HeldStream): Promise<SourceFile[]> {
  const at = (file: string, upTo?: number): SourceFile => ({
    path: `journal/${name}/${file}`,
    source: join(directory, file),
    upTo,
  });
  const segments = listSegmentsNow(directory);
  const files = readdirSync(directory)
    .filter((file) => RECORDS.has(file))
    .map((file) => at(file));
  for (const [index, segment] of segments.entries()) {
    const file = segment.path.slice(directory.length + 1);
    const isLast = index === segments.length - 1;
    files.push(at(file, isLast ? await endOfFrames(segment.path, segment.start) : undefined));
  }
  return files;
}

async function endOfFrames(path: string, start: bigint): Promise<number> {
  const file = await open(path, 'r');
  try {
    for (let position = 0; ; ) {
      const scan = await scanSegment(file, start, position, {
        sealed: false,
        maxBytes: SCAN_BYTES,
        searchBytes: SCAN_BYTES,
      });
      if (scan.ended !== 'more') return scan.position;
      position = scan.position;
    }
  } finally {
    await file.close();
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV' && code !== 'EPERM') throw error;
    copyFileSync(from, to);
  }
}

function ignoreMissing(step: () => void): void {
  try {
    step();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
