import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK_BYTES = 512;

/** Returns the bytes on disk of each folder in a directory, as `du` counts them; files beside them are `other`. */
export function bytesByFolder(directory: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const name = entry.isDirectory() ? entry.name : 'other';
    sizes.set(name, (sizes.get(name) ?? 0) + bytesOf(join(directory, entry.name)));
  }
  return sizes;
}

/** A running database removes files meanwhile. */
function bytesOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  const own = stats.blocks * BLOCK_BYTES;
  if (!stats.isDirectory()) return own;
  return entriesOf(path).reduce((sum, name) => sum + bytesOf(join(path, name)), own);
}

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
