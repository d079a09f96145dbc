import type { Config } from '../../core/settings/config.ts';
import { CommandFailed } from '../output.ts';
import { folderTarget } from './folder-target.ts';
import { s3Target } from './s3-target.ts';

/** A file in a target. */
export type Stored = { key: string; bytes: number; modifiedMs: number };

/** A place for backups: a folder, or a bucket. Keys are relative paths. */
export type BackupTarget = {
  /** The target as the operator wrote it, for messages. */
  name: string;
  /** Writes a file whole or not at all. Replaces a file of this key. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** @returns null when there is no file of this key */
  get(key: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Returns every file whose key starts with the prefix, which ends with `/`. */
  list(prefix: string): Promise<Stored[]>;
  /** Removes a file, if it exists. */
  remove(key: string): Promise<void>;
};

const PROBE = 'doctor.probe';

/**
 * @throws when no file can be written to the target. A file that can't be removed is left, and replaced by the next
 *   call.
 */
export async function assertWritable(target: BackupTarget): Promise<void> {
  await target.put(PROBE, new Uint8Array([0]));
  await target.remove(PROBE).catch(() => {});
}

/**
 * Opens the target of `--to`, `--from`, or `BACKUP_TO`.
 *
 * @throws {CommandFailed} when there is none, or it is malformed
 */
export function openTarget(given: string | undefined, config: Config): BackupTarget {
  const text = given ?? config.backupTo;
  if (text === '') {
    throw new CommandFailed('no target for backups: set BACKUP_TO to a folder or s3://bucket/prefix');
  }
  if (text.startsWith('s3://')) return s3Target(text, config.s3);
  const folder = folderTarget(text);
  if (`${folder.name}/`.startsWith(`${config.dataDir}/`)) {
    throw new CommandFailed(`${folder.name} is in DATA_DIR=${config.dataDir}: keep backups outside of it`);
  }
  return folder;
}
