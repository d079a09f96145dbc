import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { CommandFailed } from '../output.ts';
import type { ArchiveFile } from './manifest.ts';
import { TAR_END, tarHeader, tarPadding } from './tar.ts';

/** Writes an archive next to its place, and moves it there when it is complete. */
export type ArchiveWriter = {
  add(name: string, content: Buffer, about?: Pick<ArchiveFile, 'rows' | 'span'>): Promise<ArchiveFile>;
  /** Syncs the archive and gives it its name. */
  finish(): Promise<void>;
  /** Removes what is written. */
  discard(): Promise<void>;
};

/**
 * Begins an archive that only its owner can read: it has secrets.
 *
 * @throws {CommandFailed} when the file exists or can't be written
 */
export async function createArchive(path: string): Promise<ArchiveWriter> {
  const partial = `${path}.part`;
  const file = await create(path, partial);
  const add = async (name: string, content: Buffer, about = { rows: 0, span: null } as const) => {
    await file.writev([tarHeader(name, content.length), content, tarPadding(content.length)]);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { name, bytes: content.length, sha256, ...about };
  };
  return {
    add,
    async finish() {
      await file.write(TAR_END);
      await file.sync();
      await file.close();
      await rename(partial, path);
    },
    async discard() {
      await file.close().catch(() => {});
      await rm(partial, { force: true });
    },
  };
}

async function create(path: string, partial: string): Promise<FileHandle> {
  try {
    // Reserves the name while the archive is written.
    await (await open(path, 'wx', 0o600)).close();
    await rm(path);
    await rm(partial, { force: true });
    return await open(partial, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new CommandFailed(`${path} exists: choose another name`);
    throw new CommandFailed(`cannot write ${path}: ${message}`);
  }
}
