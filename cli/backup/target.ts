import { openFileTarget } from '../../core/file-targets/open.ts';
import type { FileTarget } from '../../core/file-targets/target.ts';
import type { Config } from '../../core/settings/config.ts';
import { CommandFailed } from '../output.ts';

const PROBE = 'doctor.probe';

/**
 * @throws when no file can be written to the target. A file that can't be removed is left, and replaced by the next
 *   call.
 */
export async function assertWritable(target: FileTarget): Promise<void> {
  await target.put(PROBE, new Uint8Array([0]));
  await target.remove(PROBE).catch(() => {});
}

/**
 * Opens the target of `--to`, `--from`, or `BACKUP_TO`.
 *
 * @throws {CommandFailed} when there is none, or it is in `DATA_DIR`
 * @throws {TargetFailed} when it is malformed
 */
export function openTarget(given: string | undefined, config: Config): FileTarget {
  const text = given ?? config.backupTo;
  if (text === '') {
    throw new CommandFailed('no target for backups: set BACKUP_TO to a folder or s3://bucket/prefix');
  }
  const target = openFileTarget(text, config.s3);
  if (`${target.name}/`.startsWith(`${config.dataDir}/`)) {
    throw new CommandFailed(`${target.name} is in DATA_DIR=${config.dataDir}: keep backups outside of it`);
  }
  return target;
}
