import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** The links' file, and its name until it is complete. */
export const LINKS_FILE = 'links.sqlite';
export const UNFINISHED = 'links.sqlite.new';

/** Removes the file and an incomplete one. Threads that have it open can still read it. */
export function removeLinksFile(dir: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dir, LINKS_FILE + suffix), { force: true });
  removeUnfinished(dir);
}

export function removeUnfinished(dir: string): void {
  for (const suffix of ['', '-journal']) rmSync(join(dir, UNFINISHED + suffix), { force: true });
}
