import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { syncDirectory } from '../event-log/journal/sync-directory.ts';
import type { FileTarget, Stored } from './target.ts';

const UNFINISHED = '.unfinished';

/** Keeps files in a folder, readable by this user only. */
export function folderTarget(path: string): FileTarget {
  const root = resolve(path.replace(/^~(?=\/|$)/, homedir()));
  const at = (key: string) => join(root, key);
  return {
    name: root,
    async put(key, bytes) {
      const path = at(key);
      const fresh = `${path}.${process.pid}${UNFINISHED}`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        const file = await open(fresh, 'w', 0o600);
        await writeSynced(file, bytes);
        await rename(fresh, path);
      } catch (error) {
        await rm(fresh, { force: true }).catch(() => {});
        throw error;
      }
      await syncDirectory(dirname(path));
    },
    get: (key) => readFile(at(key)).catch(missingIsNull),
    async list(prefix) {
      const entries = await readdir(at(prefix), { withFileTypes: true, recursive: true }).catch(
        missingIsNull,
      );
      const stored: Stored[] = [];
      for (const entry of entries ?? []) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const { size, mtimeMs } = await stat(path);
        stored.push({ key: path.slice(root.length + 1), bytes: size, modifiedMs: mtimeMs });
      }
      return stored;
    },
    remove: (key) => rm(at(key), { force: true }),
  };
}

async function writeSynced(file: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
