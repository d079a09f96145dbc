import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Value } from 'typebox/value';
import { CommandFailed } from '../output.ts';
import {
  ARCHIVE_VERSION,
  type ArchiveFile,
  type ArchivePart,
  CHECKSUM_FILE,
  FORMAT_FILE,
  Format,
  MANIFEST_FILE,
  Manifest,
} from './manifest.ts';
import { type TarEntry, tarEntries } from './tar.ts';

/** An archive whose every byte is as it was written. */
export type OpenArchive = {
  manifest: Manifest;
  /** Returns the part of a table. */
  part(table: string): ArchivePart;
  read(file: ArchiveFile): Promise<Buffer>;
  close(): Promise<void>;
};

export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Opens an archive and reads it once, before anything is imported.
 *
 * @param onBytes receives the size of each file that is checked
 * @throws {CommandFailed} when it is cut off, changed, no archive, or of a newer release
 */
export async function openArchive(path: string, onBytes: (bytes: number) => void): Promise<OpenArchive> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const entries = new Map<string, TarEntry>();
    for await (const entry of tarEntries(file, size)) {
      if (entries.has(entry.name))
        throw new CommandFailed(`the archive was changed: it has ${entry.name} twice`);
      entries.set(entry.name, entry);
    }
    await requireFormat(file, entries.get(FORMAT_FILE));
    const contentOf = async (name: string): Promise<Buffer> => {
      const entry = entries.get(name);
      if (entry === undefined) throw new CommandFailed(`the archive was changed: it has no ${name}`);
      return read(file, entry);
    };
    const text = await contentOf(MANIFEST_FILE);
    if ((await contentOf(CHECKSUM_FILE)).toString().trim() !== sha256(text)) {
      throw new CommandFailed(
        `the archive was changed: its ${MANIFEST_FILE} is not the one that was written`,
      );
    }
    const manifest: unknown = JSON.parse(text.toString());
    if (!Value.Check(Manifest, manifest))
      throw new CommandFailed(`the ${MANIFEST_FILE} of the archive is not valid`);
    await requireFiles(manifest, entries, contentOf, onBytes);
    return {
      manifest,
      part(table) {
        const found = manifest.parts.find((part) => part.table === table);
        return found ?? { table, store: 'postgresql', columns: [], rows: 0, files: [] };
      },
      read: ({ name }) => contentOf(name),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error instanceof CommandFailed ? new CommandFailed(`${path}: ${error.message}`) : error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    throw new CommandFailed(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CommandFailed(`${path} is not a file`);
}

async function read(file: FileHandle, { name, at, bytes }: TarEntry): Promise<Buffer> {
  const content = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(content, 0, bytes, at);
  if (bytesRead < bytes) throw new CommandFailed(`the archive is cut off in ${name}`);
  return content;
}

async function requireFormat(file: FileHandle, entry: TarEntry | undefined): Promise<void> {
  const format = entry && entry.bytes < 1_000 ? parsed((await read(file, entry)).toString()) : null;
  if (!Value.Check(Format, format))
    throw new CommandFailed('the file is not an archive of "hoplog export workspace"');
  if (format.version > ARCHIVE_VERSION) {
    throw new CommandFailed(
      `the archive has format ${format.version}, and this release reads up to ${ARCHIVE_VERSION}: upgrade this deployment first`,
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Compares the files with the manifest, one at a time. */
async function requireFiles(
  manifest: Manifest,
  entries: ReadonlyMap<string, TarEntry>,
  contentOf: (name: string) => Promise<Buffer>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const files = manifest.parts.flatMap((part) => part.files);
  const names = new Set([FORMAT_FILE, MANIFEST_FILE, CHECKSUM_FILE, ...files.map(({ name }) => name)]);
  const stranger = [...entries.keys()].find((name) => !names.has(name));
  if (stranger !== undefined)
    throw new CommandFailed(`the archive was changed: ${stranger} is not in its manifest`);
  for (const file of files) {
    const content = await contentOf(file.name);
    if (content.length !== file.bytes || sha256(content) !== file.sha256) {
      throw new CommandFailed(`the archive was changed: ${file.name} is not the one that was written`);
    }
    onBytes(content.length);
  }
}
