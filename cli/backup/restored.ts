import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/settings/config.ts';

/** Name in ClickHouse's `shadow/`. */
export const FROZEN = 'hoplog_backup';

/** In DATA_DIR while a restore replaces its content. */
export const INCOMPLETE = 'restore.incomplete';

/** Returns the directories of a backup in progress: copies and hard links, and the parts that ClickHouse froze. */
export function workDirectories(dataDir: string): { work: string; frozen: string } {
  return { work: join(dataDir, 'backup.tmp'), frozen: join(dataDir, 'clickhouse', 'data', 'shadow', FROZEN) };
}

/** Removes the leftovers of an interrupted backup, whose hard links keep the space of deleted files. */
export function removeUnfinished(dataDir: string): void {
  for (const path of Object.values(workDirectories(dataDir))) {
    // `rmSync` throws when a parent of the path is a file.
    if (existsSync(path)) rmSync(path, { recursive: true, force: true });
  }
}

/** @throws {ConfigError} when a restore was interrupted after it began to replace the content of DATA_DIR */
export function assertRestored(dataDir: string): void {
  const path = join(dataDir, INCOMPLETE);
  if (!existsSync(path)) return;
  const name = readFileSync(path, 'utf8').trim();
  throw new ConfigError(
    'DATA_DIR',
    dataDir,
    `the restore of backup ${name} was interrupted: run "hoplog restore ${name} --force" again`,
  );
}
